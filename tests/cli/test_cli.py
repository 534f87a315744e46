"""The command line, as people and programs use it."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest
from tests.command_line import run

import shoal
from shoal.kernels import library
from shoal.policy.policy import Policy
from shoal.table import reading

pytestmark = pytest.mark.xdist_group("demo")  # one worker runs the demo that most of these tests start from


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return folder, run("demo", "here", "--patients", 150, cwd=folder)


def test_the_demo_runs_through(demo):
    folder, done = demo
    assert (done.returncode, done.stderr) == (0, "")
    assert "Re-identification without names" in done.stdout
    assert sorted(file.name for file in (folder / "here").iterdir()) == [
        *("admissions.csv", "dataset-release", "dataset-release.owner-only", "dataset-report.html", "dataset.toml"),
        *("demo.key", "diagnoses.csv", "laboratory.csv", "patients.csv", "people.svg", "policy.toml", "register.csv"),
        *("release.csv", "release.csv.manifest.json", "release.csv.owner-only", "report-external.html", "report.html"),
    ]
    assert sorted(file.name for file in (folder / "here" / "dataset-release").iterdir()) == [
        *("admissions.csv", "dataset.manifest.json", "diagnoses.csv", "laboratory.csv", "patients.csv"),
    ]
    documents = ("report.html", "report-external.html", "dataset-report.html")
    pages = [(folder / "here" / name).read_text(encoding="utf-8") for name in documents]
    names = set(shoal.read(folder / "here/patients.csv").to_frame("pyarrow").column("last_name").to_pylist())
    assert not any(f">{name}<" in page for page in pages for name in names)
    policy = Policy.load(folder / "here/policy.toml")
    table = policy.apply(shoal.read(folder / "here/patients.csv"))
    assert policy.unlisted(table) == ()
    assert set(policy.hierarchies(table)) >= set(table.quasi)


@pytest.mark.exhaustive
def test_the_demo_says_the_same_with_both_kernels_over_an_old_one_on_a_console_without_unicode(demo):
    folder, before = demo
    files = {name: (folder / "here" / name).read_bytes() for name in ("admissions.csv", "patients.csv", "register.csv")}
    with library.using("numpy"):
        again = run("demo", "here", "--patients", 150, "--force", cwd=folder, encoding="ascii")
    assert (again.returncode, again.stdout) == (0, before.stdout.encode("ascii", "replace").decode())
    assert files == {name: (folder / "here" / name).read_bytes() for name in files}


def test_the_demo_overwrites_nothing(demo):
    done = run("demo", "here", "--patients", 150, cwd=demo[0])
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert "already exists" in done.stderr


def test_init_writes_a_policy_that_loads(demo):
    folder, _ = demo
    done = run("init", "here/patients.csv", "-o", "mine.toml", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "mine.toml\n")
    policy = Policy.load(folder / "mine.toml")
    assert policy.apply(shoal.read(folder / "here/patients.csv")).subject == "patient_id"
    again = run("init", "here/patients.csv", "-o", "mine.toml", cwd=folder)
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_init_to_stdout(demo):
    done = run("init", "here/admissions.csv", "-o", "-", cwd=demo[0])
    assert Policy.parse(done.stdout).data.subject == "patient_id"


def test_init_as_json(demo):
    done = run("init", "here/patients.csv", "-o", "other.toml", "--json", cwd=demo[0])
    document = json.loads(done.stdout)
    assert document["shoal"] == shoal.__version__
    assert document["command"] == "init"
    assert document["result"]["records"] == 150
    assert document["result"]["columns"]["email"]["role"] == "direct"


def test_reading_options(tmp_path):
    (tmp_path / "a.txt").write_bytes("x|1,5|NA\ny|2,5|Müller\n".encode("latin-1"))
    done = run(
        *("init", "a.txt", "-o", "-", "--no-header", "--separator", "|", "--markers", "NA", "--text", "column_2"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "column_2 = { role" in done.stdout
    assert "text, 2 values" in done.stdout
    assert "some missing" in done.stdout


def test_reading_options_are_written_into_the_policy(tmp_path):
    (tmp_path / "a.csv").write_text("code|x\n12|?\n")
    options = ("--separator", "|", "--markers", "?", "--text", "code")
    done = run("init", "a.csv", "-o", "p.toml", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = Policy.load(tmp_path / "p.toml").read(tmp_path / "a.csv")
    assert table.to_arrow().to_pydict() == {"code": ["12"], "x": [None]}


def test_the_data_are_never_overwritten(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    done = run("init", "a.csv", "-o", "a.csv", "--force", cwd=tmp_path)
    assert (done.returncode, (tmp_path / "a.csv").read_text()) == (2, "a\n1\n")


def test_a_demo_where_a_file_is(tmp_path):
    (tmp_path / "here").write_text("x")
    done = run("demo", "here", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "Error: 'here' is a file, not a folder.\n")


def failing(error):
    def read(*_, **__):
        raise error

    return read


def test_stopping(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "read", failing(KeyboardInterrupt))
    (tmp_path / "a.csv").write_text("a\n1\n")
    done = run("init", "a.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "Error: Stopped. No incomplete file was left behind.\n")


def test_as_a_module(tmp_path):
    command = [sys.executable, "-m", "shoal", "--version"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.startswith("shoal ")


def test_notes_go_to_stderr(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\nNA,y\n")
    done = run("init", "a.csv", "-o", "-", cwd=tmp_path)
    assert "Note: Cells such as NA were read as missing in 'a'." in done.stderr
    assert "Note" not in done.stdout


def test_errors_are_told_without_traceback(tmp_path):
    done = run("init", "nothing.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: There is no file 'nothing.csv'.\n"


def test_wrong_usage(tmp_path):
    done = run("int", cwd=tmp_path)
    assert done.returncode == 2
    assert "init" in done.stderr


def test_an_unexpected_failure_tells_no_values(tmp_path, monkeypatch):
    """Whatever breaks: other libraries' errors quote data, so their text is not shown."""
    monkeypatch.setattr(reading, "read", failing(ValueError("Zyxwvut")))
    (tmp_path / "a.csv").write_text("a\n1\n")
    done = run("init", "a.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "Zyxwvut" not in done.stderr + done.stdout
    assert "ValueError in " in done.stderr


def test_schema(tmp_path):
    schema = json.loads(run("schema", cwd=tmp_path).stdout)
    assert schema["title"] == "Policy"


def test_version_and_help(tmp_path):
    assert run("--version", cwd=tmp_path).stdout == f"shoal {version('shoal')}\n"
    for command in ([], ["demo"], ["init"], ["schema"]):
        done = run(*command, "--help", cwd=tmp_path)
        assert done.returncode == 0
        assert "Usage:" in done.stdout


def test_anonymize_writes_a_release_that_can_be_assessed(demo, tmp_path):
    folder = demo[0] / "here"
    done = run(
        *(
            "anonymize",
            folder / "patients.csv",
            "--policy",
            folder / "policy.toml",
            "-o",
            tmp_path / "out.csv",
            "--json",
        ),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["result"]
    assert found["met"] is True
    assert set(found) >= {"scheme", "suppressed", "classes", "quality"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("out.csv", "out.csv.manifest.json", "out.csv.owner-only")
    ]
    quasi = ",".join(found["records_on_levels"])
    again = run("assess", "out.csv", "--quasi", quasi, "--suppressed", "*", "-k", 11, "--json", cwd=tmp_path)
    assert again.returncode == 0
    assert json.loads(again.stdout)["result"]["k"] == found["requirements"][0]["value"]["k"]


def test_anonymize_shows_the_frontier_and_a_dry_run_without_writing(demo, tmp_path):
    folder = demo[0] / "here"
    given = ("anonymize", folder / "patients.csv", "--policy", folder / "policy.toml")
    done = run(*given, "--frontier", cwd=tmp_path)
    assert (done.returncode, "at most 2% suppressed" in done.stdout) == (0, True)
    done = run(*given, "--frontier", "--json", cwd=tmp_path)
    assert {point["k"] for point in json.loads(done.stdout)["result"]["frontier"]} == {2, 3, 5, 10, 11, 20, 50, 100}
    done = run(*given, "--dry-run", cwd=tmp_path)
    assert (done.returncode, "met" in done.stdout, "Written" in done.stderr) == (0, True, False)
    assert not list(tmp_path.iterdir())


def test_anonymize_says_where_to_write_and_what_is_impossible(demo, tmp_path):
    folder = demo[0] / "here"
    given = ("anonymize", folder / "patients.csv", "--policy")
    done = run(*given, folder / "policy.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "-o OUT" in done.stderr
    said = (folder / "policy.toml").read_text().replace("k = 11", "k = 301")
    (tmp_path / "policy.toml").write_text(said.replace('[population]\nfile = "register.csv"', ""))
    done = run(*given, "policy.toml", "-o", "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "requires 301 individuals, and the table has 150" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["policy.toml"]


def test_identify_tells_why_and_writes_a_policy(demo):
    folder, _ = demo
    done = run("identify", "here/patients.csv", "--write", "found.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Values are e-mail addresses." in " ".join(done.stdout.split())
    assert "bmi can be computed from height and weight (at least 99.9% of its variance)" in done.stdout
    policy = Policy.load(folder / "found.toml")
    table = shoal.read(folder / "here/patients.csv")
    assert policy.apply(table).subject == "patient_id"
    assert policy.unlisted(table) == ()
    again = run("identify", "here/patients.csv", "--write", "found.toml", cwd=folder)
    assert again.returncode == 2
    result = json.loads(run("identify", "here/patients.csv", "--json", cwd=folder).stdout)["result"]
    column = result["columns"]["postcode"]
    assert (column["role"], column["hipaa"], column["known_to"]) == ("quasi", "B", "anyone")
    assert 0 < column["uniqueness"] < 1
    assert column["g_distinct"] > 0
    assert len(result["hipaa"]) == 18


def test_identify_by_risk_rates(demo):
    asked = ("identify", "here/patients.csv", "--method", "g-distinct", "--direct", "email")
    result = json.loads(run(*asked, "--json", cwd=demo[0]).stdout)["result"]
    assert "email" not in result["rates"]["columns"]
    assert result["rates"]["columns"]["mrn"]["rate"] == 100
    assert result["columns"]["mrn"]["role"] == "direct"  # though its rate would make it sensitive, and release it
    assert "edss" in result["rates"]["excluded"]
    assert "edss" not in result["columns"]
    told = run(*asked, "--compat", "menten-2024", cwd=demo[0])
    assert told.returncode == 0, told.stderr
    assert "Note: Risk rates depend on the number of records" in told.stderr
    assert "Not evaluated: edss" in told.stderr
    for wrong in (("--method", "guess"), ("--method", "g-distinct", "--compat", "me"), ("--direct", "nobody")):
        assert run("identify", "here/patients.csv", *wrong, cwd=demo[0]).returncode == 2


def test_identify_draws_pictures(demo):
    folder, _ = demo
    done = run("identify", "here/patients.csv", "--pictures", "seen", cwd=folder)
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in (folder / "seen").iterdir()}
    assert drawn == {"contributions.svg", "known-columns.svg", "linked-columns.svg"}
    assert run("identify", "here/patients.csv", "--pictures", "seen", cwd=folder).returncode == 2


def test_dimension_and_one_column_more(demo):
    columns = ("--quasi", "postcode,sex,insurance", "--sensitive", "diabetes")
    done = run("dimension", "here/patients.csv", *columns, cwd=demo[0])
    assert done.returncode == 0, done.stderr
    assert "published program: 3" in done.stdout or "published program: none" in done.stdout
    result = json.loads(run("dimension", "here/patients.csv", *columns, "--json", cwd=demo[0]).stdout)["result"]
    assert [step["dimension"] for step in result["steps"]] == [1, 2, 3]
    assert set(result["best"]) == {"published", "repaired", "principled"}
    assert {"columns", "k", "privacy_gain", "nue", "nue_percent"} <= set(result["steps"][0])
    bad = run("dimension", "here/patients.csv", *columns, "--level", "sex", cwd=demo[0])
    assert bad.returncode == 2
    more = run("assess", "here/patients.csv", *columns, "--also-known", "--json", cwd=demo[0])
    found = json.loads(more.stdout)["result"]["also_known"]
    assert found[0]["column"] is None
    assert all(one["k"] <= found[0]["k"] for one in found)


def test_an_attack_that_cannot_be_run_is_an_error(demo):
    asked = ("attack", "here/patients.csv", "here/release.csv", "-p", "here/policy.toml", "--only", "membership")
    done = run(*asked, cwd=demo[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert "None of the attacks could be run: membership (it requires a control group" in done.stderr


def test_a_file_is_not_similar_because_of_its_suffix(demo):
    assert "Did you mean" not in run("assess", "here/nope.csv", cwd=demo[0]).stderr
    assert "Did you mean 'patients.csv'?" in run("assess", "here/patient.csv", cwd=demo[0]).stderr


def test_attack_tells_what_an_adversary_achieves(demo):
    folder, _ = demo
    asked = ("attack", "here/patients.csv", "here/release.csv", "-p", "here/policy.toml")
    few = ("--only", "linkage,homogeneity,singling-out")
    done = run(*asked, *few, "--external", "here/register.csv", "--pictures", "attacked", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "linkability:" in done.stdout
    assert "matched by the record mapping that anonymize saved" in done.stderr
    assert (folder / "attacked" / "attacks.svg").exists()
    result = json.loads(run(*asked, *few, "--json", cwd=folder).stdout)["result"]
    linkage = next(one for one in result["attacks"] if one["attack"] == "linkage")
    assert {"success", "low", "high", "baseline", "control", "lift", "targets", "adversary", "seed"} <= set(linkage)
    assert linkage["low"] <= linkage["success"] <= linkage["high"] <= 1
    assert set(result["wp216"]) == {"singling out", "linkability", "inference"}
    for wrong in (("--only", "guess"), ("--external", "nothing.csv")):
        assert run(*asked, *wrong, cwd=folder).returncode == 2


def test_analyses_are_checked_before_anything_runs(demo):
    asked = ("compare", "here/patients.csv", "here/release.csv", "-p", "here/policy.toml", "--time", "height")
    for event, error in (
        ("ethnicity", "such as competing events"),
        ("ethnicity=nowhere", "does not contain the value"),
        ("nothing", "There is no column 'nothing'"),
    ):
        done = run(*asked, "--event", event, cwd=demo[0])
        assert (done.returncode, done.stdout) == (2, "")
        assert error in done.stderr
    assert "Add --event" in run(*asked, cwd=demo[0]).stderr
