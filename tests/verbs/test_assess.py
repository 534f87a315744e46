"""Assessing tables: the numbers, the verdicts, the words."""

import json
from fractions import Fraction

import pytest

import shoal
from shoal.errors import ColumnError, ModelError, PolicyError, ShoalError
from shoal.models.model import MODELS
from shoal.policy.policy import Policy
from shoal.presets.preset import PRESETS
from tests.command_line import run as run_in

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
    assert found.met is None  # nothing is asked for
    assert found.meaning == "2 of 7 individuals are unique on the quasi-identifiers."


def test_words_for_k():
    three = shoal.assess({"a": [1, 1, 1]}, quasi="a")
    assert three.meaning == "Every record shares the quasi-identifiers with at least 2 others."
    assert "every record is counted as an individual" in " ".join(three.notes)


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
    assert [judged.measured for judged in found.requirements] == [True, True, False]
    assert "not measured: no column is sensitive" in found.requirements[2].says
    assert found.met is False  # what could not be looked at is not met


def test_a_population_is_given_in_the_same_ways_everywhere():
    """To ``assess`` and to the functions of single models: its size, a fraction, a register or a population."""
    data, register = {"age": [34, 34, 71]}, {"age": [34] * 20 + [71] * 10}
    sizes = [30, 0.1, Fraction(1, 10)]
    risks = {shoal.assess(data, quasi="age", population=given).journalist.maximum for given in sizes}
    assert len(risks) == 1
    assert [shoal.k_map(data, quasi="age", population=given) for given in sizes] == [1, 1, 1]
    for given in (register, shoal.read(register)):
        assert shoal.assess(data, quasi="age", population=given).journalist.maximum == 0.1
        assert shoal.k_map(data, quasi="age", population=given) == 10


@pytest.mark.parametrize("power", ["1e9999999", "1E-9999999", "0.1e401", "2e0000000000401", "1e99_99_999"])
def test_a_threshold_that_would_take_for_ever_is_refused(power):
    with pytest.raises(ModelError, match="power of ten"):
        shoal.assess({"age": [34, 34, 71]}, quasi="age", threshold=power)
    with pytest.raises(PolicyError, match="power of ten"):
        policy(f"require = [{{ model = 't-closeness', column = 'dx', t = '{power}' }}]")


@pytest.mark.parametrize("given", [True, False, 0, -3, 0.0, 1.5, Fraction(3, 2)])
def test_a_number_that_is_no_population_is_refused(given):
    for verb in (shoal.assess, shoal.k_map):
        with pytest.raises(ModelError, match="The population must be a number of individuals, or the"):
            verb({"age": [34, 34, 71]}, quasi="age", population=given)


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
    assert f'(missing = "{missing}")' in found.notes[1]


def test_suppressed_records_form_no_class(tmp_path):
    (tmp_path / "a.csv").write_text("age,dx\n34,flu\n34,gout\n*,ms\n")
    table = shoal.read(tmp_path / "a.csv", suppressed="*")
    found = shoal.assess(table, quasi="age", sensitive="dx")
    assert (found.k, found.classes, found.suppressed, found.persons) == (2, 1, 1, 3)
    assert "Suppressed records form no class" in " ".join(found.notes)


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
    with pytest.raises(ModelError, match="The model l-diversity cannot be measured if missing"):
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
        "measured": True,
        "asked": "k ≥ 2",
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
    assert "not met k-anonymity: k = 2 (required: k ≥ 3)" in done.stdout
    assert "Note:" in done.stderr
    assert "Note:" not in done.stdout
    assert run("assess", path, "--quasi", "age", "-k", "2").returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quasi", "aeg"], "There is no column 'aeg'"),
        ([], "No column is a quasi-identifier"),
        (["--quasi", "age", "--preset", "ema"], "there is no such preset"),
        (["--quasi", "age", "-k", "0"], "Invalid value for '-k'"),
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


def test_a_column_has_one_role():
    """A quasi-identifier that is also named as sensitive must not silently stop being one: k would be overstated."""
    data = {"a": [1] * 12, "b": list(range(6)) * 2}
    for other in ("sensitive", "subject"):
        with pytest.raises(ColumnError, match=f"has two roles: quasi and {other}"):
            shoal.assess(data, quasi=["a", "b"], **{other: "b"})
        with pytest.raises(ColumnError, match=f"is a quasi-identifier and cannot be {other} as well"):
            shoal.assess(data, policy('columns.a = "quasi"\ncolumns.b = "quasi"'), **{other: "b"})
        with pytest.raises(ColumnError, match=f"is a quasi-identifier and cannot be {other} as well"):
            shoal.measures(shoal.read(data).assign(quasi=["a", "b"]), **{other: "b"})
    with pytest.raises(ColumnError, match="'a' is named twice"):
        shoal.assess(data, quasi=["a", "a"])
    with pytest.raises(ColumnError, match="Columns must be given as a list of names"):
        shoal.assess(data, quasi=3)


def test_all_presets_count(tmp_path):
    path = written(tmp_path)
    done = run("assess", path, "--quasi", "age", "--preset", "public-use", "--preset", "wp216", "--json")
    sources = [one["source"] for one in json.loads(done.stdout)["result"]["requirements"]]
    assert sources == ["public-use"] * 2 + ["wp216"] * 3
    only_a_checklist = run("assess", path, "--quasi", "age", "--preset", "hipaa-safe-harbor", "--json")
    assert json.loads(only_a_checklist.stdout)["result"]["met"] is None
    assert only_a_checklist.returncode == 0


def test_a_register_counts_people_and_not_rows():
    register = {"id": [1, 1, 1, 2, 2], "a": ["x", "x", "x", "y", "y"]}
    assert shoal.k_map({"id": [1, 2], "a": ["x", "y"]}, quasi="a", subject="id", population=register) == 1


def test_a_register_of_other_people(tmp_path):
    with pytest.raises(ModelError, match="No record of the table matches any record of the"):
        shoal.k_map({"zip": ["033**"] * 5}, quasi="zip", population={"zip": ["03301", "03302"] * 5})
    with pytest.raises(ModelError, match="register of the population has no column 'zip'"):
        shoal.k_map({"zip": ["1"]}, quasi="zip", population={"sex": ["f"]})
    shoal.write(shoal.read({"a": ["x"] * 9}), tmp_path / "all.csv")
    (tmp_path / "p.toml").write_text('version = 1\ncolumns.a = "quasi"\npopulation.file = "all.csv"\n')
    found = shoal.assess({"a": ["x", "x", "y"]}, tmp_path / "p.toml")
    assert "Individuals without a match in the register: 1." in " ".join(found.notes)


def test_risks_that_need_classes_are_left_out_where_there_are_none():
    said = policy("population.size = 100\ndata.weight = 'w'\ndata.subject = 'id'")
    data = {"a": [None] + ["x"] * 9, "w": [2] * 10, "id": list(range(10))}
    wild = shoal.assess(data, said, quasi="a", missing="wildcard")
    assert (wild.uniqueness, wild.survey, wild.history) == (None, None, None)
    assert wild.journalist.maximum == wild.prosecutor.maximum
    several = shoal.assess({"id": [1, 1, 2], "a": [1, 2, 2]}, policy("population.size = 100"), quasi="a", subject="id")
    assert several.uniqueness is None
    assert "several classes" in " ".join(several.notes)


def test_knowing_a_whole_history_is_never_safer():
    data = {"id": [1, 2, 3, 4], "a": [None, None, "x", "x"]}
    found = shoal.assess(data, quasi="a", subject="id", missing="never")
    assert found.history.maximum == 1
    assert float(found.history.average) == found.prosecutor.average == 0.75


def test_who_has_only_suppressed_records_has_no_history(tmp_path):
    (tmp_path / "a.csv").write_text("id,a\n1,*\n2,x\n3,x\n")
    found = shoal.assess(shoal.read(tmp_path / "a.csv", suppressed="*"), quasi="a", subject="id")
    assert (found.history.persons, found.history.unique) == (2, 0)


def test_what_everybody_in_a_class_has_is_certain():
    found = shoal.assess(
        {"id": [1, 1, 2, 3], "a": ["x"] * 4, "s": list("uvuu")}, quasi="a", sensitive="s", subject="id"
    )
    (attribute,) = found.attributes
    assert (attribute.maximum, attribute.average, attribute.certain) == (1, 1, 3)


def test_stars_that_are_text_are_mentioned():
    assert "read as text" in " ".join(shoal.assess({"a": ["*", "x"]}, quasi="a").notes)


@pytest.mark.parametrize(
    ("requirement", "asked"),
    [
        ('model = "recursive-l-diversity"\nc = 3', "c < 3, l = 2"),
        ('model = "alpha-k-anonymity"\nalpha = 0.5\nk = 2\nvalues = ["flu"]', "alpha ≤ 0.5, k ≥ 2, values = flu"),
        ('model = "delta-disclosure"\ndelta = 1\nabsent = "ignore"', "delta < 1, absent = ignore"),
    ],
)
def test_what_is_asked_is_said(requirement, asked):
    (judged,) = shoal.assess(PATIENTS, policy(f"[[require]]\n{requirement}"), quasi="age", sensitive="dx").requirements
    assert judged.verdict.asked == asked


def test_a_person_with_missing_values_stands_alone_with_all_records():
    """Where missing values match nothing: nothing of anybody else, but records of one person are not parted."""
    for persons, classes in (([1, 1, 2, 3], 2), ([1, 2, 2, 3], 3)):
        data = {"id": persons, "age": [None, None, 5, 5]}
        found = shoal.assess(data, quasi=["age"], subject="id", missing="never")
        assert (found.classes, found.k) == (classes, 1)
    assert shoal.assess({"age": [None, None, 5, 5]}, quasi=["age"], missing="never").classes == 3
