"""Does the command line answer?"""

from meter.cli import main


def test_a_title(capsys):
    assert main(["title", "a house"]) == 0
    assert capsys.readouterr().out == "A House\n"


def test_nonsense_is_explained(capsys):
    assert main(["what"]) == 2
    assert "usage" in capsys.readouterr().err
