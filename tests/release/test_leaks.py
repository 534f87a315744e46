"""What must not leave with a release: values of those who were left out, and what was to be hidden."""

import pytest

import shoal
from shoal.errors import PolicyError, ReleaseError, WriteError
from shoal.table.options import Options

AGES = 'columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 50] }%s }\n'
HEAD = "version = 1\n"


def shown_by(data, text, **options):
    release = shoal.anonymize(shoal.read(data, **options), shoal.Policy.parse(HEAD + text))
    return release, release.to_frame("pyarrow").to_pydict()


def test_the_middle_of_an_open_interval_is_not_shown():
    """The oldest is left out; the middle of 90+ would tell how old he is."""
    text = """
        columns.age = { role = "quasi", show = "midpoint", hierarchy = { kind = "interval", widths = [10], top = 90 } }
        columns.sex = "quasi"
        require = [{ model = "k-anonymity", k = 3 }]
        search = { suppression = 0.2, levels = { age = [1, 1], sex = [0, 0] } }
    """
    data = {"age": [91, 92, 93, 94, 42, 43, 44, 45, 117], "sex": ["f"] * 8 + ["m"]}
    release, shown = shown_by(data, text)
    assert release.suppressed == 1
    assert sorted(set(shown["age"])) == ["*", "44.5"]


def test_a_mean_needs_as_many_values_as_persons_are_asked_for():
    text = AGES % ', show = "mean"' + 'require = [{ model = "k-anonymity", k = 4 }]'
    _, shown = shown_by({"age": [71, None, None, None]}, text)
    assert shown["age"] == ["*"] * 4


def test_values_that_were_not_made_coarser_are_not_rounded():
    text = 'columns.day = { role = "quasi", show = "mean" }\nrequire = [{ model = "k-anonymity", k = 3 }]'
    _, shown = shown_by({"day": [20240131] * 3 + [20240229] * 3}, text)
    assert shown["day"] == [20240131.0] * 3 + [20240229.0] * 3


def test_moved_records_do_not_show_in_the_mean_of_others():
    text = AGES % ', show = "mean"' + 'require = [{ model = "k-anonymity", k = 4 }]\n'
    text += 'search = { suppression = 0.2, outliers = "relocate", levels = { age = [1, 1] } }'
    release, shown = shown_by({"age": [42, 47, 44, 43, 95, 31, 32, 38, 39]}, text)
    assert release.facts["outliers"]["moved"] == 1
    assert set(shown["age"]) == {44.0, 35.0}
    assert release.facts["records_on_levels"] == {"age": [0, 9]}


def test_invented_records_have_no_values_of_those_who_are_left_out():
    text = 'columns.age = "quasi"\ncolumns.dx = "sensitive"\nrequire = [{ model = "k-anonymity", k = 3 }]\n'
    data = {"age": ["30", "30", "30", "40", "*"], "dx": ["a", "a", "a", "b", "SECRET"]}
    for _ in range(5):  # each time with a fresh key
        search = 'search = { suppression = 0.5, outliers = "counterfeits", levels = { age = [0, 0] } }'
        release, shown = shown_by(data, text + search, suppressed="*")
        assert "SECRET" not in shown["dx"]
        assert release.facts["outliers"]["counterfeits"] == 2
        assert "Records were suppressed." in release.facts["truthful"]


@pytest.mark.parametrize(
    "said",
    [f'recoding = "{kind}"' for kind in ("suppression", "subsets", "local", "mondrian", "microaggregation")] + [""],
)
def test_what_a_hierarchy_never_shows_is_never_shown(said):
    kind = 'kind = "explicit", unknown = "suppress", values = { x = ["all"], y = ["all"] }'
    text = f'columns.a = {{ role = "quasi", hierarchy = {{ {kind} }} }}\ncolumns.b = "quasi"\n'
    text += f'require = [{{ model = "k-anonymity", k = 1 }}]\n[search]\nsuppression = 0.5\n{said}\n'
    data = {"a": ["x", "x", "y", "y", "T1", "T2", "T3", "T4"], "b": list("pqrspqrs")}
    _, shown = shown_by(data, text)
    assert set(shown["a"]) <= {"x", "y", "*", "all"}
    text = text.replace("{ role", '{ show = "mode", role').replace("k = 1", "k = 2")
    if "subsets" in said:
        with pytest.raises(PolicyError, match="cannot show a value per class, because recoding ="):
            shown_by(data, text)
    else:
        _, shown = shown_by(data, text)
        assert not {"T1", "T2", "T3", "T4"} & set(shown["a"])


def test_a_linked_column_is_as_high_up_as_its_leader():
    text = (
        AGES % ""
        + 'columns.born = { role = "quasi", linked = "age", hierarchy = { kind = "interval", widths = [10, 50] } }\n'
    )
    text += 'require = [{ model = "k-anonymity", k = 2 }]\nsearch = { suppression = 0, levels = { age = [1, 2] } }'
    _, shown = shown_by({"age": [46, 46, 74, 74], "born": [1978, 1978, 1950, 1950]}, text)
    assert shown == {"age": ["40-49"] * 2 + ["70-79"] * 2, "born": ["1970-1979"] * 2 + ["1950-1959"] * 2}


def test_pseudonyms_do_not_link_records_that_differ(monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", "a key that is long enough")
    text = AGES % "" + 'require = [{ model = "k-anonymity", k = 2 }]\nsearch.suppression = 0\n'
    text += '[pseudonyms]\ncolumns = ["who"]\nkey_variable = "SHOAL_TEST_KEY"\n'
    data = {"who": list("AABBCC"), "age": [31, 41, 31, 51, 41, 51]}
    for more in ('data.subject = "who"\n', 'columns.who = "direct"\n'):
        with pytest.raises(PolicyError, match="would link records"):
            shown_by(data, more + text)


def test_a_limit_is_exact():
    """0.29 of 100 persons are 29, though 0.29 · 100 is less in floating point."""
    text = 'columns.age = { role = "quasi", hierarchy = { kind = "suppression" } }\n'
    text += 'require = [{ model = "k-anonymity", k = 2 }]\nsearch = { suppression = LIMIT, levels = { age = [0, 0] } }'
    data = {"age": [31] * 71 + list(range(100, 129))}
    release, _ = shown_by(data, text.replace("LIMIT", "0.29"))
    assert release.suppressed == 29
    with pytest.raises(ReleaseError, match="suppression = 0.29"):
        shown_by(data, text.replace("LIMIT", "0.28"))


def test_samples_and_recodings_that_come_to_nothing_say_so():
    text = AGES % "" + 'require = [{ model = "k-anonymity", k = 3 }]\nsearch = { suppression = 0, SAID }'
    with pytest.raises(PolicyError, match="The sample contains no individual"):
        shown_by({"age": [1, 2, 3]}, text.replace("SAID", "sample = 0.1"))
    with pytest.raises(ReleaseError, match="This technique suppresses"):
        shown_by({"age": [1, 2, 3, 4]}, text.replace("SAID", 'recoding = "subsets"'))


@pytest.mark.parametrize("how", ["median", "mode"])
def test_a_member_is_shown_only_if_as_many_are_known_as_are_asked_for(how):
    text = AGES % f', show = "{how}"' + 'require = [{ model = "k-anonymity", k = 4 }]'
    _, shown = shown_by({"age": [47, None, None, None]}, text)
    assert shown["age"] == ["*"] * 4
    _, shown = shown_by({"age": [47, 45, 45, 43]}, text)
    assert shown["age"] == [45] * 4


def test_pseudonyms_of_what_several_persons_share_are_refused(monkeypatch):
    """Who belongs to one family tells who somebody is, however many look alike one by one."""
    monkeypatch.setenv("KEY", "0123456789abcdef0123456789abcdef")
    text = """
        data.subject = "id"
        columns.family = "direct"
        columns.age = "quasi"
        pseudonyms = { columns = ["family"], key_variable = "KEY" }
        require = [{ model = "k-anonymity", k = 2 }]
    """
    data = {"id": [1, 2, 3, 4], "family": ["a", "a", "b", "b"], "age": [30, 30, 30, 30]}
    with pytest.raises(PolicyError, match="'family' would link records"):
        shown_by(data, text)
    _, shown = shown_by({**data, "family": list("abcd")}, text)
    assert len(set(shown["family"])) == 4


@pytest.mark.parametrize("show", ["mean", "median", "mode"])
def test_what_few_real_persons_have_is_not_shown_with_counterfeits(show):
    text = AGES % f', show = "{show}"' + (
        'require = [{ model = "k-anonymity", k = 3 }]\nsearch = { outliers = "counterfeits", suppression = 0.5 }'
    )
    with pytest.raises(PolicyError, match=f"cannot show a {show}: in a class with counterfeits"):
        shown_by({"age": [31, 32, 33, 71]}, text)


@pytest.mark.parametrize(
    ("search", "match"),
    [
        ('{ recoding = "subsets", levels = { age = [1, 1] } }', "has no levels"),
        ('{ recoding = "suppression", levels = { age = [1, 1] } }', "has no levels"),
    ],
)
def test_levels_that_would_not_be_kept_are_refused(search, match):
    text = AGES % "" + f'require = [{{ model = "k-anonymity", k = 2 }}]\nsearch = {search}'
    with pytest.raises(PolicyError, match=match):
        shown_by({"age": [31, 32, 33, 71]}, text)


def test_with_force_no_mapping_of_another_release_stays(tmp_path):
    data = {"age": [31, 32, 33, 71, 72, 73]}
    text = AGES % "" + 'require = [{ model = "k-anonymity", k = 3 }]\n'
    first, _ = shown_by(data, text)
    second, _ = shown_by(data, text + 'search = { recoding = "local" }')
    first.save(tmp_path / "r.csv")
    stale = tmp_path / "r.csv.owner-only" / "mapping.json"
    assert stale.exists()
    assert second.mapping is None
    (tmp_path / "other.csv.owner-only").mkdir()
    (tmp_path / "other.csv.owner-only" / "mapping.json").write_text("{}")
    with pytest.raises(WriteError, match=r"already exists"):
        second.save(tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()
    second.save(tmp_path / "r.csv", force=True)
    assert not stale.exists()
    with pytest.raises(WriteError, match="is a folder"):
        second.save(tmp_path)


def test_free_text_is_refused():
    said = [f"Seen on day {number} by Dr. Smith, who knows the family of Mrs. Miller well." for number in range(40)]
    data = {"age": [30, 40] * 20, "note": said}
    policy = """version = 1
[columns]
age = "quasi"
note = {{ role = "{role}"{more} }}
[[require]]
model = "k-anonymity"
k = 2
"""
    for role in ("insensitive", "sensitive"):
        with pytest.raises(PolicyError, match="Column 'note' is free text") as refused:
            shoal.anonymize(data, shoal.Policy.parse(policy.format(role=role, more="")))
        assert "Miller" not in str(refused.value)
    kept = shoal.Policy.parse(policy.format(role="insensitive", more=", names_nobody = true"))
    assert shoal.anonymize(data, kept).table["note"].size == 40


@pytest.mark.parametrize(("odd", "noted"), [("5.5", True), ("abc", True), ("7", False)])
@pytest.mark.parametrize("column", ["age", "cost"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_kind_that_follows_from_suppressed_values_is_noted(odd, noted, column, suffix, tmp_path):
    """A decimal or a text of a suppressed person shows in how all others are written, unless the file has types."""
    last = {"age": "99", "cost": "7", column: odd}
    lines = ["age,cost", *["30,237"] * 6, *["40,12"] * 6, f"{last['age']},{last['cost']}"]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    shoal.write(shoal.read(tmp_path / "data.csv"), tmp_path / "data.parquet")
    policy = shoal.Policy.parse("""
        version = 1
        columns.age = "quasi"
        columns.cost = "insensitive"
        require = [{ model = "k-anonymity", k = 3 }]
        search = { suppression = 0.1, levels = { age = [0, 0] } }
    """)
    release = shoal.anonymize(tmp_path / f"data{suffix}", policy)
    assert release.suppressed == 1
    notes = [note for note in release.notes if "follows from suppressed values" in note]
    assert bool(notes) == (noted and suffix == ".csv")
    assert all(f"'{column}'" in note for note in notes)
    fixed = policy.model_copy(update={"data": policy.data.model_copy(update={"read": Options(text=(column,))})})
    read_as_text = shoal.anonymize(fixed.read(tmp_path / f"data{suffix}"), fixed)
    assert not any("follows from suppressed values" in note for note in read_as_text.notes)


def test_a_kind_that_follows_from_suppressed_values_is_noted_for_statistics_packages(tmp_path):
    """All numbers of an SPSS file are doubles: whether a column is whole follows from all of its values."""
    data = {"age": [30.0] * 6 + [40.0] * 6 + [99.5], "cost": [12.0] * 13}
    shoal.write(shoal.read(data), tmp_path / "data.sav")
    policy = shoal.Policy.parse("""
        version = 1
        columns.age = "quasi"
        columns.cost = "insensitive"
        require = [{ model = "k-anonymity", k = 3 }]
        search = { suppression = 0.1, levels = { age = [0, 0] } }
    """)
    notes = [note for note in shoal.anonymize(tmp_path / "data.sav", policy).notes if "follows from" in note]
    assert len(notes) == 1
    assert "'age'" in notes[0]


GROUPS = [60, 70, 80, 90, 95]


def aged(hierarchy, search, last, engine="memory"):
    """Anonymize persons of five ages, twelve of each, and one of another age who is suppressed."""
    data = {
        "age": [*(age for age in GROUPS for _ in range(12)), last],
        "sex": [*(["f", "m"] * 30), "x"],
        "dx": [*(["flu", "ms", "gout"] * 20), "flu"],
    }
    policy = shoal.Policy.parse(f"""
        version = 1
        columns.age = {{ role = "quasi", hierarchy = {hierarchy} }}
        columns.sex = "quasi"
        columns.dx = "sensitive"
        require = [{{ model = "k-anonymity", k = 5 }}]
        search = {{ suppression = 0.1, {search} }}
    """)
    return shoal.anonymize(shoal.read(data, engine=engine), policy)


@pytest.mark.parametrize("last", [5, 107])
@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_labels_that_name_a_value_of_a_suppressed_person_are_refused(last, engine):
    levels = "levels = { age = [1, 1], sex = [0, 0] }"
    with pytest.raises(ReleaseError, match="contain values that only suppressed individuals have") as refused:
        aged('{ kind = "order", sizes = [2] }', levels, last, engine)
    assert str(last) not in str(refused.value)
    written = f'{{ kind = "order", sizes = [2], order = {sorted(map(str, [*GROUPS, last]), key=int)} }}'
    release = aged(written, levels, last, engine)  # the policy names the value, not the data
    assert release.suppressed == 1
    assert not any("suppressed records" in note for note in release.notes)


def test_an_automatic_hierarchy_that_follows_from_suppressed_values_is_noted():
    levels = "levels = { age = [1, 1], sex = [0, 0] }"
    for last, noted in ((1070, True), (94, False)):
        release = aged('{ kind = "auto" }', levels, last)
        assert release.suppressed == 1
        assert any("without the suppressed records" in note and "'age'" in note for note in release.notes) == noted
