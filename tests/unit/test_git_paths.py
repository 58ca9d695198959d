"""Has every name that git may hold one text, which is Unicode, and every text at most one name?"""

import json
import os

import pytest

from tasks.git.paths import bytes_of, on_disk, text_of

NAMES = (
    b"plain.txt",
    "größe 一.md".encode(),
    b"caf\xe9.txt",
    b"\xff\xfe",
    "\uefe9".encode(),
    b"\xc3\x28",
    b"\xed\xb3\xa9",
)


@pytest.mark.parametrize("raw", NAMES)
def test_a_name_comes_back_from_its_text(raw):
    assert bytes_of(text_of(raw)) == raw
    assert os.fsencode(on_disk(text_of(raw))) == raw


def test_different_names_have_different_texts_that_json_can_hold():
    texts = [text_of(raw) for raw in NAMES]
    assert len(set(texts)) == len(NAMES)
    assert json.loads(json.dumps(texts, ensure_ascii=False).encode()) == texts


@pytest.mark.parametrize("text", ["\udce9", "\uefc3\uefa9", "tests \uefc3\uefbc/test_a.py"])
def test_no_name_has_a_second_spelling(text):
    assert bytes_of(text) is None
