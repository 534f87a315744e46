"""Assessing tables: the numbers, the verdicts, the words."""

import json
from fractions import Fraction

import pytest

import shoal
from shoal.errors import ColumnError, ModelError, PolicyError, ShoalError
from shoal.models.model import MODELS
from shoal.policy import Policy
from shoal.presets.preset import PRESETS
from tests.cli.test_cli import run as run_in

PATIENTS = {
    "id": [1, 2, 3, 4, 5, 6, 7],
    "age": [34, 34, 34, 71, 71, 50, 50],
    "sex": ["f", "f", "f", "m", "m", "f", "m"],
    "dx": ["flu", "flu", "gout", "ms", "ms", "flu", "flu"],
}


def run(*arguments):
    return run_in(*arguments, cwd=".")


def policy(text):
    return Policy.parse(f"version = 1\n{text}")


def test_what_is_found():
    found = shoal.assess(PATIENTS, quasi=["age", "sex"], sensitive="dx", subject="id")
    assert (found.records, found.persons, found.classes, found.k) == (7, 7, 4, 1)
    assert found.counts_persons
    assert [(band.smallest, band.classes, band.persons) for band in found.bands if band.classes] == [
        (1, 2, 2),
        (2, 1, 2),
        (3, 1, 3),
    ]
    assert found.prosecutor.maximum == 1
    assert found.prosecutor.average == pytest.approx(4 / 7)
    assert found.journalist.basis == "upper bound"
    (attribute,) = found.attributes
    assert (attribute.maximum, attribute.certain) == (1, 4)
    assert found.met  # nothing is asked for
    assert found.meaning == "2 persons of 7 can be told from all others by these values."


def test_words_for_k():
    three = shoal.assess({"a": [1, 1, 1]}, quasi="a")
    assert three.meaning == "Every record shares these values with at least 2 others."
    assert "every record is taken for a person" in " ".join(three.notes)


def test_which_column_costs_most():
    data = {"age": [1, 2, 3, 4], "sex": ["f", "m", "m", "f"]}
    ladders = 'columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [2] } }\ncolumns.sex = "quasi"'
    found = shoal.assess(data, policy(ladders))
    first, second = found.contributions
    assert (first.column, first.without.k, first.without.alone) == ("age", 2, 0)
    assert (second.column, second.without.k) == ("sex", 1)
    assert first.coarser.classes == 3  # 2 and 3 become one


def test_requirements_and_presets():
    asked = """
    columns.age = "quasi"
    columns.sex = "quasi"
    columns.dx = "sensitive"
    data.subject = "id"
    [[require]]
    preset = "wp216"
    [[require]]
    model = "l-diversity"
    l = 1
    [[require]]
    preset = "hipaa-safe-harbor"
    """
    found = shoal.assess(PATIENTS, policy(asked))
    verdicts = [(judged.source, judged.verdict.model, judged.verdict.satisfied) for judged in found.requirements]
    assert verdicts == [
        ("wp216", "k-anonymity", False),
        ("wp216", "average-risk", False),
        ("wp216", "alpha-k-anonymity", False),
        ("policy", "l-diversity", True),
    ]
    assert len(found.checklist) == 19
    assert not found.met


def test_what_a_preset_asks_and_nobody_can_measure_is_said():
    found = shoal.assess(PATIENTS, policy('[[require]]\npreset = "wp216"'), quasi="age")
    assert [judged.verdict.model for judged in found.requirements] == ["k-anonymity", "average-risk"]
    assert "Not measured, as no column is sensitive: inference" in " ".join(found.notes)


def test_populations():
    by_size = shoal.assess(PATIENTS, policy("population.size = 70"), quasi=["age", "sex"])
    by_fraction = shoal.assess(PATIENTS, policy("population.fraction = 0.1"), quasi=["age", "sex"])
    assert by_size.journalist == by_fraction.journalist
    assert by_size.journalist.maximum < 1
    assert by_size.uniqueness.counted is None


def test_a_register_beside_the_policy(tmp_path):
    shoal.write(
        shoal.read({"age": [34] * 30 + [71] * 20 + [50] * 2, "sex": ["f"] * 30 + ["m"] * 21 + ["f"]}),
        tmp_path / "all.csv",
    )
    (tmp_path / "policy.toml").write_text(
        'version = 1\ncolumns.age = "quasi"\ncolumns.sex = "quasi"\npopulation.file = "all.csv"\n'
        '[[require]]\nmodel = "k-map"\nk = 1\n'
    )
    found = shoal.assess(PATIENTS, tmp_path / "policy.toml")
    assert found.journalist.basis == "counted"
    assert found.uniqueness.counted == pytest.approx(2 / 52)
    assert found.met


def test_context_is_shown_apart_and_together():
    said = "context.deliberate = 0.3\ncontext.breach = 0.1\n"
    found = shoal.assess(PATIENTS, policy(said), quasi=["age"])
    assert found.context.data == found.journalist.maximum
    assert found.context.overall == pytest.approx(found.journalist.maximum * 0.3)
    public = shoal.assess(PATIENTS, policy("context.public = true"), quasi=["age"])
    assert public.context.overall == public.journalist.maximum


@pytest.mark.parametrize("missing", ["own", "never", "wildcard"])
def test_the_rule_for_missing_values_is_said(missing):
    found = shoal.assess({"a": [1, 1, None], "s": ["x", "y", "x"]}, quasi="a", sensitive="s", missing=missing)
    assert found.k == {"own": 1, "never": 1, "wildcard": 3}[missing]
    assert f"({missing})" in found.notes[1]


def test_suppressed_records_form_no_class(tmp_path):
    (tmp_path / "a.csv").write_text("age,dx\n34,flu\n34,gout\n*,ms\n")
    table = shoal.read(tmp_path / "a.csv", suppressed="*")
    found = shoal.assess(table, quasi="age", sensitive="dx")
    assert (found.k, found.classes, found.suppressed, found.persons) == (2, 1, 1, 3)
    assert "suppressed records" in " ".join(found.notes)


def test_what_cannot_be_assessed():
    with pytest.raises(ColumnError, match="No column is a quasi-identifier"):
        shoal.assess(PATIENTS)
    with pytest.raises(ColumnError, match="no records"):
        shoal.assess({"a": []}, quasi="a")
    with pytest.raises(ColumnError, match="There is no column 'aeg'"):
        shoal.assess(PATIENTS, quasi="aeg")
    with pytest.raises(PolicyError, match="names column 'dy'"):
        shoal.assess(PATIENTS, policy('[[require]]\nmodel = "l-diversity"\nl = 2\ncolumn = "dy"'), quasi="age")
    asked = policy('[[require]]\nmodel = "l-diversity"\nl = 2')
    with pytest.raises(ModelError, match="match anything"):
        shoal.assess(PATIENTS, asked, quasi="age", sensitive="dx", missing="wildcard")


def test_every_preset_is_complete():
    assert {"ema-0070", "hipaa-safe-harbor", "wp216"} <= set(PRESETS)
    for name in PRESETS:
        preset = PRESETS[name]
        assert preset.source
        assert 1990 < preset.year < 2030
        assert preset.criteria or preset.checklist
        assert "complian" not in f"{preset.title} {preset.note} {preset.criteria}".lower()
        for criterion in preset.criteria:
            criterion.requirement().complete()
            assert criterion.model in MODELS
    with pytest.raises(ShoalError, match="no preset 'ema'"):
        PRESETS["ema"]


def test_eleven_is_enough_for_the_ema_but_one_eleventh_is_not_nine_hundredths():
    data = {"a": [1] * 11}
    assert shoal.assess(data, policy('[[require]]\npreset = "ema-0070"'), quasi="a").met
    asked = '[[require]]\nmodel = "average-risk"\nrisk = 0.09'
    assert not shoal.assess(data, policy(asked), quasi="a").met


def written(tmp_path):
    path = tmp_path / "patients.csv"
    shoal.write(shoal.read(PATIENTS), path)
    return str(path)


def test_the_command(tmp_path):
    path = written(tmp_path)
    done = run("assess", path, "--quasi", "age,sex", "--sensitive", "dx", "--subject", "id", "-k", "2", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["command"] == "assess"
    result = found["result"]
    assert (result["records"], result["subjects"], result["classes"], result["k"]) == (7, 7, 4, 1)
    assert result["requirements"][0] | {"says": ""} == {
        "source": "policy",
        "says": "",
        "model": "k-anonymity",
        "column": None,
        "parameters": {"k": 2},
        "value": 1,
        "satisfied": False,
        "failing_classes": 2,
        "failing_persons": 2,
    }
    for adversary in ("prosecutor", "journalist", "marketer"):
        assert {"max", "average"} <= result["risk"][adversary].keys()


def test_the_screen(tmp_path):
    path = written(tmp_path)
    done = run("assess", path, "--quasi", "age", "--sensitive", "dx", "--preset", "trusted-environment")
    assert done.returncode == 1
    assert "k = 2" in done.stdout
    assert "not met k-anonymity: k = 2 (asked: k = 3)" in done.stdout
    assert "Note:" in done.stderr
    assert "Note:" not in done.stdout
    assert run("assess", path, "--quasi", "age", "-k", "2").returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quasi", "aeg"], "There is no column 'aeg'"),
        ([], "No column is a quasi-identifier"),
        (["--quasi", "age", "--preset", "ema"], "there is no such preset"),
        (["--quasi", "age", "-k", "0"], "greater than or equal to 1"),
        (["--quasi", "age", "--missing", "nevr"], "no rule 'nevr'"),
        (["--quasi", "age", "--threshold", "often"], "must be a number"),
        (["--policy", "nowhere.toml"], "There is no policy file"),
    ],
)
def test_mistakes_of_the_command(tmp_path, options, message):
    done = run("assess", written(tmp_path), *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_presets_are_listed():
    assert "ema-0070" in run("presets").stdout
    listed = json.loads(run("presets", "--json").stdout)["result"]["presets"]
    assert {preset["name"] for preset in listed} == set(PRESETS)


def test_fractions_are_thresholds():
    found = shoal.assess({"a": [1] * 11}, quasi="a", threshold="1/11")
    assert found.prosecutor.above == 0
    assert shoal.assess({"a": [1] * 11}, quasi="a", threshold=Fraction(9, 100)).prosecutor.above == 11
