"""Which value of a setting counts, where does it come from, and what is refused?"""

from pathlib import Path

import pytest

from agents.domain.errors import Misconfigured
from flows.settings import FREE, LOWER, Settings, login_shell, read, told


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import os

    for name in [name for name in os.environ if name.startswith(("LRA_", "PREFECT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def operator(home: Path, text: str) -> Path:
    path = home / ".config" / "lra" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def repository(home: Path) -> Path:
    (home / "repo" / ".git").mkdir(parents=True)
    return home / "repo"


def test_without_anything_the_defaults_count(home: Path) -> None:
    assert told() == {}
    assert read().attempts == 3
    assert home in read().home.parents


def test_each_layer_wins_over_the_one_before(home: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = operator(home, "max_calls = 12\n")
    assert (read(repository).max_calls, told(repository)["max_calls"].source) == (12, str(path))
    (repository / "lra.toml").write_text("max_calls = 8\n")
    assert (read(repository).max_calls, told(repository)["max_calls"].source) == (8, str(repository / "lra.toml"))
    monkeypatch.setenv("LRA_MAX_CALLS", "20")
    assert (read(repository).max_calls, told(repository)["max_calls"].source) == (20, "LRA_MAX_CALLS")
    flags = {"max_calls": 4}
    assert (read(repository, flags).max_calls, told(repository, flags)["max_calls"].source) == (4, "--max-calls")


def test_a_flag_that_was_not_given_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRA_MODEL", "ollama_chat/one")
    assert read(flags={"model": None}).model == "ollama_chat/one"


def test_an_empty_variable_is_as_if_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRA_MODEL", "")
    assert read().model is None


def test_prefects_own_variable_names_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    assert told()["prefect_api_url"].source == "PREFECT_API_URL"
    assert read().prefect_api_url == "http://127.0.0.1:4200/api"


def test_home_is_absolute_and_knows_the_tilde(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRA_HOME", "~/data")
    assert read().home == home / "data"
    assert read(flags={"home": "here"}).home.is_absolute()


@pytest.mark.parametrize(("name", "near"), [("LRA_MODLE", "LRA_MODEL"), ("LRA_ATTEMPT", "LRA_ATTEMPTS")])
def test_an_unknown_variable_is_refused_with_the_nearest(name: str, near: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(Misconfigured, match=f"{name}.*{near}"):
        read()


def test_an_unknown_key_is_refused_with_its_file_and_the_nearest(home: Path) -> None:
    path = operator(home, "max_call = 3\n")
    with pytest.raises(Misconfigured) as refused:
        read()
    assert str(path) in str(refused.value)
    assert "'max_calls'" in str(refused.value)


def test_a_file_that_is_not_toml_is_refused_with_its_line(home: Path) -> None:
    operator(home, "model = 'a'\nmax_calls = \n")
    with pytest.raises(Misconfigured, match="line 2"):
        read()


@pytest.mark.parametrize(
    ("name", "value"),
    [("LRA_MAX_CALLS", "many"), ("LRA_ATTEMPTS", "0"), ("LRA_TEMPERATURE", "nan"), ("LRA_MOVES", "json")],
)
def test_a_value_that_does_not_fit_is_refused_with_its_source(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured, match=rf"\({name}\).*'{value}'"):
        read()


def test_a_key_is_never_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LRA_API_KEY", "sk-secret")
    assert "sk-secret" not in repr(read()) + read().model_dump_json()
    monkeypatch.delenv("LRA_API_KEY")
    operator(home, "api_key = 123456\n")
    with pytest.raises(Misconfigured) as refused:
        read()
    assert "123456" not in str(refused.value)


@pytest.mark.parametrize("key", sorted(LOWER))
def test_a_repository_may_lower_a_limit_and_not_raise_it(key: str, repository: Path) -> None:
    default = getattr(read(), key)
    (repository / "lra.toml").write_text(f"{key} = {default - 1}\n")
    assert getattr(read(repository), key) == default - 1
    (repository / "lra.toml").write_text(f"{key} = {default + 1}\n")
    with pytest.raises(Misconfigured, match=f"{key}.*more than the {default}"):
        read(repository)


def test_the_operator_decides_how_far_a_repository_may_go(home: Path, repository: Path) -> None:
    (repository / "lra.toml").write_text("check_seconds = 1000\n")
    operator(home, "check_seconds = 1200\n")
    assert read(repository).check_seconds == 1000


@pytest.mark.parametrize("key", sorted(set(Settings.model_fields) - LOWER - FREE))
def test_what_belongs_to_the_operator_is_refused_from_a_repository(key: str, repository: Path) -> None:
    (repository / "lra.toml").write_text(f'{key} = "x"\n')
    with pytest.raises(Misconfigured, match=f"{key} belongs to the operator"):
        read(repository)


def test_a_setting_of_the_repository_counts_in_its_subfolders(repository: Path) -> None:
    (repository / "lra.toml").write_text("attempts = 1\n")
    (repository / "src").mkdir()
    assert read(repository / "src").attempts == 1


def test_an_address_of_a_repository_reads_no_file_from_here(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "lra.toml").write_text("attempts = 1\n")
    monkeypatch.chdir(repository)
    assert read(Path("https://example.org/repo.git")).attempts == 3


def test_every_setting_says_what_it_means() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_login_shell_is_named_without_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert login_shell() == "zsh"
    monkeypatch.delenv("SHELL")
    assert login_shell() == ""
