"""Names of files and columns, and values: whatever they hold, nothing is done to the terminal that shows them."""

import pytest
from tests.command_line import run
from tests.effort import tiered

from shoal.cli.output import Notes

ESC = "\x1b[31m"
DATA, RELEASE = f"data{ESC}.csv", f"release{ESC}.csv"
POLICY = """
version = 1
[columns]
"age\\u001B[31m" = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
"sex\\u001B[31m" = "quasi"
"dx\\u001B[31m" = "sensitive"
[[require]]
model = "k-anonymity"
k = 3
"""
COMMANDS = [
    ("identify", DATA),
    ("identify", DATA, "--quasi", f"nobody{ESC}"),
    ("identify", f"nowhere{ESC}.csv"),
    ("init", DATA, "-o", f"new{ESC}.toml"),
    ("dimension", DATA, "--policy", "policy.toml"),
    ("assess", DATA, "--policy", "policy.toml"),
    ("assess", DATA, "--quasi", f"nobody{ESC}"),
    ("peers", DATA, "--policy", "policy.toml"),
    ("anonymize", DATA, "--policy", "policy.toml", "-o", f"another{ESC}.csv"),
    ("anonymize", DATA, "--policy", "policy.toml", "-o", RELEASE),
    ("compare", DATA, RELEASE, "--policy", "policy.toml"),
    ("compare", DATA, RELEASE, RELEASE, "--policy", "policy.toml"),
    ("attack", DATA, RELEASE, "--policy", "policy.toml"),
    ("report", DATA, "--policy", "policy.toml", "--no-attacks", "-o", f"report{ESC}.html"),
    ("report", DATA, "--policy", "policy.toml", "--no-attacks", "-o", f"report{ESC}.txt"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("terminal")
    rows = [f"{20 + number % 30},{'fm'[number % 2]},{'xyz'[number % 3]}{ESC}" for number in range(120)]
    (place / DATA).write_text("\n".join([f"age{ESC},sex{ESC},dx{ESC}", *rows]) + "\n")
    (place / "policy.toml").write_text(POLICY)
    run("anonymize", DATA, "--policy", "policy.toml", "-o", RELEASE, cwd=place)
    return place


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("json", tiered([False, True], quick=1))
def test_no_command_for_the_terminal_gets_through(folder, command, json):
    done = run(*command, *(["--json"] if json else []), *(["--force"] if "report" in command else []), cwd=folder)
    assert "unexpectedly" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stdout + done.stderr


def test_the_screen_shows_five_notes_and_all_if_asked(capsys):
    texts = [f"Note number {number}." for number in range(7)]
    notes = Notes(verbose=False)
    notes.show([texts[0], texts[0]])
    notes.show_last(texts)
    shown = capsys.readouterr().err.splitlines()
    assert shown == [*(f"Note: {text}" for text in texts[:5]), "2 further notes: add --verbose."]
    Notes(verbose=True).show_last(texts)
    assert capsys.readouterr().err.splitlines() == [f"Note: {text}" for text in texts]
