"""Results of verbs are data: what ``--json`` prints is what ``to_dict`` returns, and tables become frames."""

import json

import pyarrow as pa
import pytest

import shoal
from shoal.demo import hospital
from tests.command_line import run

POLICY = """
version = 1
columns.sex = "quasi"
columns.birth_date = { role = "quasi", hierarchy = { kind = "date", units = ["year", "decade"] } }
columns.ethnicity = { role = "quasi", hierarchy = { kind = "frequency", keep = [1] } }
columns.depression = "sensitive"
columns.hypertension = "insensitive"
require = [{ model = "k-anonymity", k = 3 }, { model = "t-closeness", column = "depression", t = 0.9 }]
search = { suppression = 0.3 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, a policy and a release, as files."""
    folder = tmp_path_factory.mktemp("results")
    columns = ["sex", "birth_date", "ethnicity", "depression", "hypertension"]
    shoal.write(hospital(patients=150).patients.only(columns), folder / "data.csv")
    (folder / "policy.toml").write_text(POLICY)
    shoal.anonymize(folder / "data.csv", folder / "policy.toml").save(folder / "release.csv")
    return folder


VERBS = {
    "assess": (lambda data, policy, _: shoal.assess(data, policy), "assess data.csv -p policy.toml"),
    "anonymize": (lambda data, policy, _: shoal.anonymize(data, policy), "anonymize data.csv -p policy.toml --dry-run"),
    "frontier": (
        lambda data, policy, _: shoal.frontier(data, policy),
        "anonymize data.csv -p policy.toml --frontier",
    ),
    "compare": (
        lambda data, policy, release: shoal.compare(data, release, policy),
        "compare data.csv release.csv -p policy.toml",
    ),
    "attack": (
        lambda data, policy, release: shoal.attack(data, release, policy, attacks=["linkage", "homogeneity"]),
        "attack data.csv release.csv -p policy.toml --only linkage,homogeneity",
    ),
    "identify": (lambda data, *_: shoal.identify(data), "identify data.csv"),
    "dimension": (lambda data, policy, _: shoal.dimension(data, policy), "dimension data.csv -p policy.toml"),
    "peers": (lambda data, policy, _: shoal.peers(data, policy), "peers data.csv -p policy.toml"),
    "report": (
        lambda data, policy, release: shoal.report(data, release, policy=policy),
        "report data.csv release.csv -p policy.toml -o report.md --force",
    ),
    "compare_techniques": (
        lambda data, policy, _: shoal.compare_techniques(data, policy),
        "compare-techniques data.csv -p policy.toml",
    ),
    "compare_forms": (
        lambda data, policy, _: shoal.compare_forms(data, policy, l=2),
        "compare-forms data.csv -p policy.toml -l 2",
    ),
    "query_error": (
        lambda data, policy, release: shoal.query_error(data, release, policy),
        "query-error data.csv release.csv -p policy.toml",
    ),
    "plan": (lambda data, policy, _: shoal.plan(data, policy), "plan data.csv -p policy.toml"),
}
BESIDE = {"file", "files", "release", "analyses", "advice"}  # what a command adds to the result


def without(value, names):
    if isinstance(value, dict):
        return {key: without(held, names) for key, held in value.items() if key not in names}
    return [without(held, names) for held in value] if isinstance(value, list) else value


@pytest.mark.parametrize("verb", VERBS)
def test_json_prints_what_to_dict_returns(folder, verb):
    make, command = VERBS[verb]
    result = make(folder / "data.csv", folder / "policy.toml", folder / "release.csv")
    printed = json.loads(run(*command.split(), "--json", cwd=folder).stdout)["result"]
    written = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert without(written, {"seconds"}) == without(printed, BESIDE | {"seconds"})


@pytest.mark.parametrize("verb", [*(verb for verb in VERBS if verb != "compare_forms"), "schemes"])  # that has a test
def test_results_are_frames_where_they_are_tables(folder, verb):
    make = shoal.schemes if verb == "schemes" else VERBS[verb][0]
    files = [folder / "data.csv", folder / "policy.toml", folder / "release.csv"]
    result = make(*files[:2]) if verb == "schemes" else make(*files)
    if not hasattr(result, "to_frame"):
        assert verb in {"assess", "report", "query_error"}  # many small tables, or a single figure
        return
    frame = result.to_frame("pyarrow")
    assert isinstance(frame, pa.Table)
    assert frame.num_rows > 0
    assert hasattr(result.to_frame("pandas"), "columns")
