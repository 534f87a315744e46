"""Files appear whole or not at all, as sets, and never in the place of what they were made of."""

import hashlib
import json
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import shoal
from shoal import scratch
from shoal.errors import ReadError, WriteError
from shoal.fileset import HERE, FileSet, Leftover, replacing
from tests.command_line import run

POLICY = """
version = 1
columns.age = { role = "quasi", hierarchy = { kind = "explicit", file = "ages.csv" } }
columns.dx = "sensitive"
require = [{ model = "k-anonymity", k = 2 }]
search.suppression = 0
"""
DATA = "age,dx\n31,flu\n32,ms\n71,flu\n72,gout\n"
DEAD = 2**22 - 3  # no process has this number here: it is larger than the largest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text(DATA)
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "ages.csv").write_text("31;young\n32;young\n71;old\n72;old\n")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "data" / "a.csv")
    return tmp_path


@pytest.mark.parametrize("source", ["data", "data/a.csv", "data/*.csv", "link", "link/a.csv", "hard.csv"])
@pytest.mark.parametrize("target", ["data/a.csv", "./data/../data/a.csv", "link/a.csv", "hard.csv", "ages.csv"])
def test_no_input_is_ever_replaced(folder, source, target):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = run("anonymize", source, "--policy", "policy.toml", "-o", target, "--force", cwd=folder)
    assert done.returncode == 2
    assert "never overwritten" in done.stderr or "overwrite its own input" in done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_no_input_is_replaced_by_a_report_or_in_python(folder):
    done = run("report", "data/a.csv", "--policy", "policy.toml", "-o", "r.html", "--keep", "data/a.csv", "--force",
               "--no-attacks", "--no-lattice", cwd=folder)  # fmt: skip
    assert done.returncode == 2
    assert "never overwritten" in done.stderr
    release = shoal.anonymize(folder / "data" / "a.csv", folder / "policy.toml")
    for target in ("data/a.csv", "ages.csv", "link/a.csv"):
        with pytest.raises(WriteError, match="never overwritten"):
            release.save(folder / target, force=True)
    with pytest.raises(WriteError, match="never overwritten"):
        shoal.write(shoal.read(folder / "hard.csv"), folder / "data" / "a.csv", force=True)
    assert (folder / "data" / "a.csv").read_text() == DATA
    again = run("identify", "data/a.csv", "--write", "data/a.csv", "--force", cwd=folder)
    assert again.returncode == 2
    assert (folder / "data" / "a.csv").read_text() == DATA


@pytest.mark.parametrize(
    "words",
    [
        "report data/a.csv -o z.md --register other.csv --keep other.csv --no-lattice",
        "report data/a.csv -o z.md --outsiders other.csv --keep other.csv --no-lattice",
        "report data/a.csv -o other.md --register other.md --format csv --no-lattice",
        "report data/a.csv other.json -o other.json --format csv --no-attacks",
        "peers other.png --format csv --png other.png",
        "attack attacks.svg other.csv --format csv --only linkage --in-order --pictures .",
    ],
)
def test_no_command_replaces_a_file_that_it_reads(folder, words):
    for name in ("other.csv", "other.md", "other.json", "other.png", "attacks.svg"):
        (folder / name).write_text(DATA)
    done = run(*words.split(), "--policy", "policy.toml", "--force", cwd=folder)
    assert done.returncode == 2, done.stderr
    assert "never overwritten" in done.stderr
    assert all((folder / name).read_text() == DATA for name in ("other.csv", "other.md", "other.json", "other.png"))
    assert (folder / "attacks.svg").read_text() == DATA


def test_internal_reports_are_for_their_owner_alone(folder):
    release = shoal.anonymize(folder / "data" / "a.csv", folder / "policy.toml")
    report = shoal.report(release.given, release)
    kept, public = report.save(folder / "r.md"), report.external().save(folder / "public.md")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(public.stat().st_mode) & 0o044


def test_owners_files_are_theirs_alone(folder):
    release = shoal.anonymize(folder / "data" / "a.csv", folder / "policy.toml")
    _, manifest, *own = release.save(folder / "out.csv")
    assert [path.name for path in own] == ["internal.json", "mapping.json", "origins.json"]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (own[0].parent, *own)]
    assert modes == [0o700, 0o600, 0o600, 0o600]
    assert own[0].parent == folder / "out.csv.owner-only"
    assert manifest == folder / "out.csv.manifest.json"


def test_an_existing_folder_of_the_owner_is_made_private(folder):
    release = shoal.anonymize(folder / "data" / "a.csv", folder / "policy.toml")
    release.save(folder / "out.csv")
    (folder / "out.csv.owner-only").chmod(0o777)
    release.save(folder / "out.csv", force=True)
    assert stat.S_IMODE((folder / "out.csv.owner-only").stat().st_mode) == 0o700
    (folder / "elsewhere").mkdir()
    (folder / "other.csv.owner-only").symlink_to(folder / "elsewhere")
    with pytest.raises(WriteError, match="is a link"):
        release.save(folder / "other.csv")
    assert not (folder / "other.csv").exists()
    (folder / "elsewhere").rmdir()  # the link leads nowhere
    with pytest.raises(WriteError, match="is a link"):
        release.save(folder / "other.csv")
    (folder / "out.csv.owner-only" / "internal.json").unlink()
    (folder / "out.csv.owner-only" / "internal.json").symlink_to(folder / "seen.json")
    release.save(folder / "out.csv", force=True)
    assert not (folder / "seen.json").exists()  # the link was replaced, not followed


def test_an_interrupted_release_is_refused_as_such(folder):
    """All files may be in place: only the plan is left, and the hash is right."""
    release = shoal.anonymize(folder / "data" / "a.csv", folder / "policy.toml")
    release.save(folder / "out.csv")
    plan = folder / f"{hidden('out.csv.manifest.json')}.plan"
    plan.write_text(json.dumps({"process": DEAD, "host": HERE, "rename": [], "remove": []}))
    with pytest.raises(ReadError, match="was interrupted, or has not finished"):
        shoal.read(folder / "out.csv")
    with pytest.warns(Leftover, match="Completed"):
        release.save(folder / "out.csv", force=True)
    assert shoal.read(folder / "out.csv").records == 4


def test_a_mixed_set_is_refused(folder):
    release = shoal.anonymize(folder / "data" / "a.csv", folder / "policy.toml")
    release.save(folder / "out.csv")
    assert shoal.read(folder / "out.csv").records == 4
    (folder / "out.csv").write_text(DATA)
    with pytest.raises(ReadError, match=r"'out\.csv' does not match the hash in 'out\.csv\.manifest\.json'"):
        shoal.read(folder / "out.csv")
    (folder / "out.csv.manifest.json").unlink()
    assert shoal.read(folder / "out.csv").records == 4


def interrupt(folder, *names):
    """Leave files and plan of a process that was killed after it had renamed the first file of a set."""
    partials = [f"{hidden(name)}.{DEAD}-{HERE}-00.partial" for name in names]
    for name, partial in zip(names, partials, strict=True):
        (folder / name).write_text("old")
        (folder / partial).write_text("new")
    steps = {"process": DEAD, "host": HERE, "rename": list(zip(partials, names, strict=True)), "remove": []}
    (folder / f"{hidden(names[-1])}.plan").write_text(json.dumps(steps))
    (folder / partials[0]).replace(folder / names[0])


def stop(*_arguments):
    raise OSError(28, "No space left on device")


def write(folder, *names):
    with FileSet(last=folder / names[-1], force=True) as files:
        for name in names:
            files.add(folder / name).write_text("new")


def hidden(name):
    return f".{name[:40]}.{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@pytest.mark.parametrize("names", [("a", "b"), ("visits of the study in the region of the north (a)",
                                                "visits of the study in the region of the north (b)")])  # fmt: skip
def test_an_interrupted_set_is_completed(tmp_path, names):
    interrupt(tmp_path, *names)
    with pytest.warns(Leftover, match="Completed the interrupted write"), FileSet(last=tmp_path / names[-1]):
        pass
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(names, "new")


def test_plans_name_paths_relative_to_their_folder(tmp_path, monkeypatch):
    """Paths relative to the working directory would be searched elsewhere by the next run."""
    (tmp_path / "study" / "own").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as crash:
        crash.setattr("shoal.fileset._carry_out", stop)
        with pytest.raises(WriteError):
            write(Path("study"), "own/a", "b")
    (plan,) = (tmp_path / "study").glob(".*.plan")
    plan.write_text(plan.read_text().replace(f'"process": {os.getpid()}', f'"process": {DEAD}'))
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.warns(Leftover, match="Completed"), FileSet(last=Path("../study/b")):
        pass
    assert [(tmp_path / "study" / name).read_text() for name in ("own/a", "b")] == ["new", "new"]
    assert sorted(path.name for path in (tmp_path / "study").rglob("*")) == ["a", "b", "own"]


def test_a_plan_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    """Half a plan would make the old release look interrupted."""
    (tmp_path / "a").write_text("old")
    monkeypatch.setattr("json.dumps", stop)
    with pytest.raises(WriteError, match="disk is full"):
        write(tmp_path, "a", "b")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_a_plan_of_a_long_name_is_not_taken_for_that_of_another(tmp_path):
    first, second = (f"{'visits of the study in the region of the north'} ({letter})" for letter in "ab")
    interrupt(tmp_path, "x", first)
    write(tmp_path, second)
    assert (tmp_path / first).read_text() == "old"
    assert len(list(tmp_path.glob(".*.partial"))) == 1


def test_files_of_a_killed_process_are_removed_with_a_warning(tmp_path):
    running = f"{hidden('out.csv')}.{os.getppid()}-{HERE}-00.partial"
    (tmp_path / f"{hidden('out.csv')}.{DEAD}-{HERE}-00.partial").write_text("half")
    (tmp_path / running).write_text("of a running process")
    with pytest.warns(Leftover, match="Removed 1 incomplete file"), replacing(tmp_path / "out.csv") as beside:
        beside.write_text("whole")
    assert {path.name for path in tmp_path.iterdir()} == {running, "out.csv"}
    left = tmp_path / f"shoal-{DEAD}-{HERE}-x"
    left.mkdir()
    scratch.remove_leftovers.cache_clear()
    with pytest.warns(Leftover, match="temporary folder"):
        scratch.remove_leftovers(str(tmp_path))
    assert not left.exists()


FULL = """
    import resource, signal, sys
    import shoal
    table = shoal.read({"x": list(range(20_000)), "y": [f"patient {n}" for n in range(20_000)]})
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, 32_768))
    try:
        shoal.write(table, sys.argv[1], force=True)
    except shoal.ShoalError as error:
        print(error)
    else:
        print("written")
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".xpt", ".sav", ".dta", ".jsonl", ".xlsx"])
def test_a_file_that_cannot_be_written_whole_is_not_written(tmp_path, suffix):
    """A limit for the size of files stands for a full disk: writing fails in the middle."""
    target = tmp_path / f"out{suffix}"
    target.write_text("old")
    script = textwrap.dedent(FULL)
    done = subprocess.run([sys.executable, "-c", script, str(target)], capture_output=True, text=True, check=False)
    assert "cannot be written" in done.stdout or "could not be written" in done.stdout, done.stdout + done.stderr
    assert "None" not in done.stdout
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_a_full_disk_is_called_that(tmp_path):
    def fill():
        with replacing(tmp_path / "out.csv") as beside, Path("/dev/full").open("w") as full:
            beside.write_text("half")
            full.write("x")

    with pytest.raises(WriteError, match="the disk is full"):
        fill()
    assert list(tmp_path.iterdir()) == []
