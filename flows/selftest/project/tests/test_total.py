"""Can a file of orders be added up?"""

from meter.cli import main


def test_the_total_of_a_file(orders, capsys):
    assert main(["total", str(orders)]) == 0
    assert capsys.readouterr().out == "9.75\n"


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["total", str(tmp_path / "none.csv")]) == 1
    assert "none.csv" in capsys.readouterr().err
