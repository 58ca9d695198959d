"""What does an edit make of a file?"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.domain.edits import apply_hunks, text_to_bytes
from agents.domain.errors import AskAgain
from agents.domain.moves import Hunk


def edit(original: bytes, *pairs: tuple[str, str]) -> bytes:
    return apply_hunks(original, tuple(Hunk(search=search, replace=replace) for search, replace in pairs), "a.py")


def refusal(original: bytes, *pairs: tuple[str, str]) -> str:
    with pytest.raises(AskAgain) as refused:
        edit(original, *pairs)
    return str(refused.value)


def test_hunks_apply_in_order_to_what_the_one_before_left():
    assert edit(b"a\nb\nc\n", ("b", "x\ny"), ("y\nc", "z")) == b"a\nx\nz\n"


@pytest.mark.parametrize(
    ("original", "search", "replace", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\nb\n", "x\n", b"x\r\n"),
        (b"a\nb\r\nc\nd", "b\n", "x\ny\n", b"a\nx\r\ny\r\nc\nd"),
        (b"a\nb\r\nc\nd\r\n", "a\nb\nc\nd\n", "a\nb\nnew\nc\nd\n", b"a\nb\r\nnew\nc\nd\r\n"),
        (b"\xef\xbb\xbfa\r\nb\r\n", "a", "\u00e9", b"\xef\xbb\xbf\xc3\xa9\r\nb\r\n"),
        (b"caf\xe9\nb\n", "b", "\u20ac", b"caf\xe9\n\xe2\x82\xac\n"),
        (b"a\nb", "b\n", "c\n", b"a\nc"),
        (b"a\nb", "b", "b\nc\n", b"a\nb\nc"),
        (b"a\nb\n", "a\nb\n", "a", b"a\n"),
        (b"a\n", "a\n", "", b""),
        (b"", "", "new\n", b"new\n"),
        (b"a\x0cb\x0bc\n", "a", "x", b"x\x0cb\x0bc\n"),
        (b"one\r\rtwo\n", "two", "2", b"one\r\r2\n"),
    ],
)
def test_an_edit_keeps_line_endings_encoding_and_final_newline(original, search, replace, expected):
    assert edit(original, (search, replace)) == expected


@given(st.lists(st.tuples(st.text("ab \u00e9", max_size=4), st.sampled_from(["\n", "\r\n"])), min_size=1))
def test_lines_no_hunk_touches_keep_every_byte(lines):
    before = "".join(body + ending for body, ending in lines).encode()
    after = edit(b"top\r\n" + before + b"end", ("top", "TOP"), ("end", "END"))
    assert after == b"TOP\r\n" + before + b"END"


def test_a_search_that_is_not_there_shows_the_closest_lines_by_number():
    message = refusal(b"import os\n\ndef area(w, h):\n    return w * h\n", ("def area(w, h):\n    return w + h", "x"))
    assert "hunk 1 of 1 in a.py" in message
    assert "lines 3 to 4:\n3: def area(w, h):\n4:     return w * h\n" in message


def test_a_search_that_differs_in_white_space_says_so():
    assert "Only the white space differs from lines 2 to 2" in refusal(b"a\n\tb = 1\n", ("    b = 1", "c"))


def test_a_search_near_one_line_shows_that_line():
    assert "2: def total(rows):" in refusal(b"x\ndef total(rows):\ny\n", ("def totals(row):", "c"))


def test_nothing_alike_says_read_first():
    assert "READ the file" in refusal(b"alpha\n", ("zzzzqqqq", "c"))


def test_a_search_found_twice_is_refused_with_its_lines():
    assert "found 2 times (lines 1, 3)" in refusal(b"a\nb\na\n", ("a", "x"))


def test_overlapping_places_are_not_one_place():
    assert "found 2 times" in refusal(b"aaa\n", ("aa", "x"))


def test_an_edit_is_refused_whole_when_its_second_hunk_fails():
    assert "hunk 2 of 2" in refusal(b"a\nb\n", ("a", "x"), ("q", "y"))


@pytest.mark.parametrize("pairs", [(), (("", "x"),), (("\n", "x"),), (("a", "\ud800"),)])
def test_an_edit_that_says_nothing_usable_is_refused(pairs):
    assert refusal(b"a\n\nb\n", *pairs)


@pytest.mark.parametrize(
    "search", ["nothing like this stands anywhere = 1", "    value_17 = compute(17)\nno such line"]
)
def test_a_refusal_on_5000_lines_answers_at_once(search):
    original = "".join(f"    value_{n} = compute({n}, 'some text', {n * 7})\n" for n in range(5000)).encode()
    started = time.perf_counter()
    refusal(original, (search, "x"))
    assert time.perf_counter() - started < 1.0


@pytest.mark.parametrize(
    ("text", "original", "expected"),
    [
        ("a", None, b"a\n"),
        ("a\r\nb\n\n\n", None, b"a\nb\n"),
        ("", None, b""),
        ("x\ny\n", b"a\r\nb\r\n", b"x\r\ny\r\n"),
        ("x\ny", b"a\nb", b"x\ny\n"),
        ("x", b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfx\n"),
        ("\ufeffx\n", b"a\n", b"x\n"),
    ],
)
def test_a_whole_file_ends_with_one_newline_and_keeps_crlf_and_bom(text, original, expected):
    assert text_to_bytes(text, original) == expected


def test_half_a_character_cannot_be_written():
    with pytest.raises(AskAgain, match="half a character"):
        text_to_bytes("a\ud800", None)
