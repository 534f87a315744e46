"""``shoal report``."""

import json

import pytest
from tests.command_line import run

POLICY = """
version = 1
[columns]
name = "direct"
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 30] } }
sex = "quasi"
dx = "sensitive"
days = "insensitive"
died = "insensitive"
[[require]]
model = "k-anonymity"
k = 3
[search]
suppression = 0.1
"""


@pytest.fixture
def folder(tmp_path):
    rows = ["name,age,sex,dx,days,died"]
    for place in range(90):
        known = f"n{place},{20 + place * 7 % 50},{'fm'[place % 2]}"
        rows.append(f"{known},{'ab'[place * 5 % 7 % 2]},{place % 9 + 1},{place % 3 % 2}")
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def test_from_data_and_policy_to_a_report(folder):
    done = run(
        *("report", "data.csv", "-p", "policy.toml", "-o", "r.html", "--predict", "dx", "--survival", "days,died"),
        cwd=folder,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "Written: r.html" in done.stderr
    page = (folder / "r.html").read_text(encoding="utf-8")
    for part in (
        "Agreement of analyses",
        "WP216",
        "schemes: information loss",
        "Largest difference of the survival curves",
    ):
        assert part in page
    again = run("report", "data.csv", "-p", "policy.toml", "-o", "r.html", cwd=folder)
    assert again.returncode == 2
    assert "already exists" in again.stderr


@pytest.mark.parametrize(
    ("columns", "says"), [("dx,died", "does not contain numbers"), ("days,age", "An event or a binary outcome has two")]
)
def test_what_cannot_be_analysed_is_said_first(folder, columns, says, monkeypatch):
    """And not after the search, the attacks and the pictures."""
    monkeypatch.setattr("shoal.anonymize", None)  # it is not come to
    done = run("report", "data.csv", "-p", "policy.toml", "-o", "r.html", "--survival", columns, cwd=folder)
    assert done.returncode == 2
    assert says in done.stderr


def test_a_release_of_others_that_fails(folder):
    lines = (folder / "data.csv").read_text(encoding="utf-8").splitlines()
    theirs = "\n".join(line.partition(",")[2] for line in lines)
    (folder / "theirs.csv").write_text(theirs + "\n", encoding="utf-8")
    done = run(
        *(
            "report",
            "data.csv",
            "theirs.csv",
            "-p",
            "policy.toml",
            "-o",
            "r.md",
            "--no-attacks",
            "--json",
            "--external",
        ),
        cwd=folder,
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["result"] == {"file": "r.md", "external": True, "met": False}
    assert "does not meet the requirement of the policy" in (folder / "r.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "r.docx"], "suffix .html"),
        (["-o", "r.html", "--survival", "days"], "two columns"),
        (["-o", "r.html", "--predict", "nothing"], "nothing"),
    ],
)
def test_mistakes(folder, options, message):
    done = run("report", "data.csv", "-p", "policy.toml", "--no-attacks", *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (folder / "r.html").exists()


@pytest.fixture
def plain(tmp_path):
    """Return a folder with nothing but a table and its policy."""
    (tmp_path / "data.csv").write_text("age\n" + "30\n" * 9)
    policy = 'version = 1\ncolumns.age = "quasi"\nrequire = [{ model = "k-anonymity", k = 2 }]'
    (tmp_path / "policy.toml").write_text(policy)
    return tmp_path


def test_a_release_that_cannot_be_kept_leaves_no_report(plain):
    """A database that nobody answers for; the release is written before the report."""
    command = ("report", "data.csv", "--policy", "policy.toml", "--no-attacks", "--no-lattice", "-o", "report.html")
    done = run(*command, "--keep", "postgresql://nobody@127.0.0.1:1/none?table=x", cwd=plain)
    assert done.returncode == 2
    assert "cannot be reached" in done.stderr
    done = run(*command, "data.csv", "--keep", "kept.csv", cwd=plain)
    assert (done.returncode, "--keep applies to releases made in the same run" in done.stderr) == (2, True)
    assert sorted(file.name for file in plain.iterdir()) == ["data.csv", "policy.toml"]


@pytest.mark.parametrize(
    ("length", "said"), [(241, None), (242, "manifest.json' is too long: 256 bytes"), (300, "long")]
)
def test_names_that_are_too_long(plain, length, said):
    name = "a" * (length - 4) + ".csv"
    done = run("anonymize", "data.csv", "--policy", "policy.toml", "-o", name, cwd=plain)
    assert done.returncode == (0 if said is None else 2)
    assert said is None or said in done.stderr
    assert len(list(plain.iterdir())) == (5 if said is None else 2)
