"""The policy file: what it takes, what it says about mistakes, and what it does to a table."""

import json

import pytest

import shoal
from shoal.errors import HierarchyError, PolicyError, ReadError
from shoal.policy.policy import Policy
from shoal.table.missing import Missing
from shoal.table.role import Role

FULL = """
version = 1
[data]
subject = "patient_id"
missing = "own"
[data.read]
markers = ["NA"]
[columns]
name       = { role = "direct" }
birth_date = { role = "quasi", hierarchy = { kind = "date" } }
icd10      = { role = "sensitive", hierarchy = { kind = "icd10" } }
sex        = "quasi"
[[require]]
preset = "ema-0070"
[[require]]
model = "k-anonymity"
k = 11
[[require]]
model = "t-closeness"
column = "icd10"
t = 0.2
[search]
suppression = 0.02
quality = "loss"
[population]
fraction = 0.1
[context]
recipient = "university, contract"
deliberate = 0.3
inadvertent = 0.05
breach = 0.27
"""


def test_everything_a_policy_can_say():
    policy = Policy.parse(FULL)
    assert policy.data.subject == "patient_id"
    assert policy.data.missing is Missing.OWN
    assert policy.data.read.markers == ("NA",)
    assert policy.columns["sex"].role is Role.QUASI
    assert policy.require[0].preset == "ema-0070"
    assert [need.name for need in policy.require[1:]] == ["k-anonymity", "t-closeness"]
    assert policy.require[2].column == "icd10"
    assert policy.require[2].parameters == {"t": 0.2}
    assert policy.population.fraction == 0.1
    assert policy.context.breach == 0.27


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "version: is missing", None),
        ("version = 2", "version: must be 1", None),
        ("version = 1\ncolums = {}", "colums: there is no such setting", "Did you mean 'columns'?"),
        ("version = 1\n[data]\nsubjet = 'a'", "data.subjet: there is no such setting", "Did you mean 'subject'?"),
        ("version = 1\n[data]\nmissing = 'maybe'", "data.missing: must be one of own, never, wildcard", None),
        (
            "version = 1\ncolumns.age = { role = 'qasi' }",
            "columns.age.role: must be one of direct, quasi, sensitive, insensitive, threshold. Did you mean 'quasi'?",
            None,
        ),
        ("version = 1\ncolumns.age = 'subject'", "columns.age.role: the subject is named under [data]", None),
        (
            "version = 1\ncolumns.age = { role = 'quasi', hierarchy = { kind = 'intervall' } }",
            "columns.age.hierarchy.kind: there is no kind 'intervall'",
            "Did you mean 'interval'?",
        ),
        (
            "version = 1\ncolumns.age = { role = 'quasi', hierarchy = { kind = 'interval', width = 5 } }",
            "columns.age.hierarchy.width: there is no such setting",
            "Did you mean 'widths'?",
        ),
        (
            "version = 1\ncolumns.age = { role = 'quasi', hierarchy = { kind = 'interval', widths = [5, 7] } }",
            "each width must be a multiple of the previous one",
            None,
        ),
        ("version = 1\n[[require]]\nk = 5", "require.0: give model, preset or attack", None),
        (
            "version = 1\n[[require]]\npreset = 'wp216'\nk = 5",
            "require.0.k: there is no such setting",
            "Available: 'preset'.",
        ),
        ("version = 1\n[[require]]\npreset = 'wp21'", "require.0.preset: there is no such preset", None),
        (
            "version = 1\n[[require]]\nmodel = 'k-anonimity'",
            "require.0.model: there is no such",
            "Did you mean 'k-anonymity'?",
        ),
        ("version = 1\n[[require]]\nmodel = 'k-anonymity'\nkk = 5", "require.0.k: is missing", "Did you mean 'k'?"),
        ("version = 1\n[[require]]\nmodel = 'k-anonymity'\nk = 0", "require.0.k: must be at least 1", None),
        ("version = 1\n[[require]]\nmodel = 't-closeness'\nt = 'x'", "require.0.t: must be a number", None),
        ("version = 1\n[search]\nsuppression = 2", "search.suppression: must be at most 1", None),
        (
            "version = 1\n[population]\nsize = 5\nfraction = 0.1",
            "population: requires exactly one of file, size and fraction",
            None,
        ),
        ("version = 1\n[context]\ndeliberate = -1", "context.deliberate: must be at least 0", None),
        (
            "version = 1\n[data.read]\nseparator = ';;'",
            "data.read.separator: the separator must be one character",
            None,
        ),
    ],
)
def test_mistakes_are_named_with_their_place(text, message, hint):
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    assert message in caught.value.message
    if hint:
        assert caught.value.hint == hint


def test_all_mistakes_at_once():
    with pytest.raises(PolicyError) as caught:
        Policy.parse("version = 1\n[search]\nsuppression = 2\nqualty = 'x'")
    assert "suppression" in caught.value.message
    assert "qualty" in caught.value.message


@pytest.mark.parametrize("text", ["a = " + "[" * 3000, "a = " + "1" * 5000, "x ="])
def test_strange_toml(text):
    with pytest.raises(PolicyError, match="not valid TOML|cannot be understood"):
        Policy.parse(text)


def test_broken_toml():
    with pytest.raises(PolicyError, match="not valid TOML: Expected .* \\(at line 2"):
        Policy.parse("version = 1\n[data\n")


def test_no_such_file(tmp_path):
    with pytest.raises(ReadError, match="There is no policy file"):
        Policy.load(tmp_path / "policy.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReadError, match="cannot be read"):
        Policy.load(tmp_path / "latin.toml")


TABLE = {"id": [1, 2, 2], "age": [34, 71, 71], "dx": ["I10", "E11.9", "I10"], "extra": ["a", "b", "c"]}
POLICY = """
version = 1
data.subject = "id"
[columns]
age = { role = "quasi", hierarchy = { kind = "explicit", file = "age.csv" } }
dx  = { role = "sensitive" }
"""


def test_roles_are_applied():
    table = shoal.Policy.parse(POLICY).apply(shoal.read(TABLE))
    assert (table.subject, table.quasi, table.sensitive) == ("id", ("age",), ("dx",))


def test_columns_that_a_policy_does_not_mention_get_no_role():
    policy, table = Policy.parse(POLICY), shoal.read(TABLE)
    assert policy.unlisted(table) == ("extra",)
    assert "extra" not in policy.apply(table).roles


def test_columns_that_are_not_there():
    table = shoal.read({"id": [1], "aeg": [3], "dx": ["x"]})
    with pytest.raises(PolicyError, match="does not fit the table. There is no column 'age'") as caught:
        Policy.parse(POLICY).apply(table)
    assert caught.value.hint == "Did you mean 'aeg'?"


def test_next_months_extract(tmp_path):
    """The hierarchy file lies beside the policy; a value it does not know is refused, not dropped."""
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "age.csv").write_text("34;young\n71;old\n")
    policy = Policy.load(tmp_path / "policy.toml")
    this_month = policy.hierarchies(policy.apply(shoal.read(TABLE)))
    assert this_month["age"].labels(1).to_pylist() == ["young", "old"]
    with pytest.raises(HierarchyError, match="1 of the 1 values of column 'age', in 1 record"):
        policy.hierarchies(policy.apply(shoal.read({"id": [9], "age": [50], "dx": ["I10"]})))


def test_roles_from_before_are_forgotten():
    """A column that the policy does not name must not stay releasable."""
    table = shoal.read(TABLE).assign(insensitive="extra")
    assert "extra" not in Policy.parse(POLICY).apply(table).roles


def test_a_policy_saved_by_a_windows_editor(tmp_path):
    (tmp_path / "p.toml").write_bytes(b"\xef\xbb\xbfversion = 1\n")
    assert Policy.load(tmp_path / "p.toml").version == 1


def test_values_in_a_policy_are_not_quoted():
    text = "version = 1\ncolumns.job = { role = 'quasi', hierarchy = { kind = 'explicit', values = { Meier = 'x' } } }"
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    assert "Meier" not in str(caught.value)


def test_reading_as_the_policy_says(tmp_path):
    (tmp_path / "a.csv").write_text("id|age|dx\n1|34|?\n")
    policy = Policy.parse("version = 1\ndata.read = { separator = '|', markers = ['?'] }\ncolumns.age = 'quasi'")
    table = policy.read(tmp_path / "a.csv")
    assert (table.quasi, table["dx"].missing) == (("age",), True)


def test_quasi_identifiers_without_a_hierarchy_get_one():
    policy = Policy.parse("version = 1\ncolumns.age = 'quasi'")
    assert policy.hierarchies(shoal.read(TABLE))["age"].labels(1).to_pylist() == ["30-34", "70-74"]


def test_schema_describes_the_whole_file():
    schema = Policy.model_json_schema()
    parts = {
        "version",
        "data",
        "columns",
        "require",
        "search",
        "pseudonyms",
        "population",
        "context",
        "dates",
        "draw",
        "publish",
        "tables",
    }
    assert set(schema["properties"]) == parts
    kinds = schema["$defs"]["ColumnPolicy"]["properties"]["hierarchy"]["anyOf"][0]["discriminator"]["mapping"]
    assert {"auto", "date", "explicit", "icd10", "interval", "prefix"} <= set(kinds)


@pytest.mark.parametrize("option", ["strict = false", 'cuts = "anywhere"'])
def test_what_only_mondrian_does_is_refused_elsewhere(option):
    with pytest.raises(PolicyError, match=r'can only be combined with recoding = "mondrian"'):
        shoal.Policy.parse(f"version = 1\n[search]\n{option}")
    shoal.Policy.parse(f'version = 1\n[search]\nrecoding = "mondrian"\n{option}')


@pytest.mark.parametrize("option", ['quality = "classification-metric"', 'target = "dx"'])
def test_who_seeks_what_a_classifier_needs_says_what_it_is_to_predict(option):
    with pytest.raises(PolicyError, match="target"):
        shoal.Policy.parse(f"version = 1\n[search]\n{option}")
    shoal.Policy.parse('version = 1\n[search]\nquality = "classification-metric"\ntarget = "dx"')


def test_the_schema_is_for_readers():
    text = json.dumps(shoal.Policy.model_json_schema())
    assert ">>>" not in text
    assert "``" not in text
