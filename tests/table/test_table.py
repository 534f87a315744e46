"""Tables: roles, distinct rows, and persons."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import ColumnError
from shoal.kernels import library
from shoal.table.role import Role


def test_roles():
    table = shoal.read({"id": [1, 2], "age": [3, 4], "icd": ["a", "b"], "w": [1.5, 2.0], "h": [1, 1]})
    given_roles = table.assign(subject="id", quasi=["age"], sensitive="icd", weight="w", household="h")
    assert given_roles.quasi == ("age",)
    assert given_roles.sensitive == ("icd",)
    assert given_roles.subject == "id"
    assert given_roles.with_role(Role.WEIGHT) == ("w",)
    assert table.roles == {}
    assert given_roles.assign(insensitive="age").quasi == ()


def test_conflicting_roles():
    table = shoal.read({"a": [1], "b": [2]})
    with pytest.raises(ColumnError, match="two roles: quasi and sensitive"):
        table.assign(quasi="a", sensitive="a")
    with pytest.raises(ColumnError, match="Only one column can be the subject"):
        table.assign(subject=["a", "b"])
    with pytest.raises(ColumnError, match="There is no role 'quazi'"):
        table.assign(quazi="a")


@pytest.mark.parametrize("cells", [["a", "b"], [1, None], [0, 1], [-1, 2]])
def test_weights_must_weigh(cells):
    with pytest.raises(ColumnError, match="cannot be the weight"):
        shoal.read({"w": cells}).assign(weight="w")


ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 2), st.integers(0, 3)), max_size=30)


def columns_of(rows):
    kinds = (pa.string(), pa.int64(), pa.int64())
    return {name: pa.array([row[j] for row in rows], kinds[j]) for j, name in enumerate(("x", "y", "who"))}


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(rows=ROWS)
def test_distinct_rows_are_counted(kernels, rows):
    with library.using(kernels):
        table = shoal.read(columns_of(rows))
        distinct = table.distinct(["x", "y"])
        decoded = [
            tuple(table[name].cells()[int(code)].as_py() for name, code in zip(("x", "y"), codes, strict=True))
            for codes in zip(*distinct.codes, strict=True)
        ]
        counts = dict(zip(decoded, distinct.counts.tolist(), strict=True))
        expanded = table.engine.expand(distinct, distinct.counts)
    pairs = [row[:2] for row in rows]
    assert counts == {pair: pairs.count(pair) for pair in pairs}
    assert expanded.tolist() == [pairs.count(pair) for pair in pairs]


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(rows=ROWS)
def test_profiles_are_sets_of_rows(kernels, rows):
    with library.using(kernels):
        table = shoal.read(columns_of(rows)).assign(subject="who")
        profiles = table.profiles(["x", "y"])
        distinct = profiles.rows
        decoded = [
            tuple(table[name].cells()[int(code)].as_py() for name, code in zip(("x", "y"), codes, strict=True))
            for codes in zip(*distinct.codes, strict=True)
        ]
    found = {}
    for place, count in enumerate(profiles.counts.tolist()):
        members = profiles.members[profiles.starts[place] : profiles.starts[place + 1]]
        assert members.tolist() == sorted(set(members.tolist()))
        found[frozenset(decoded[m] for m in members)] = count
    persons = {}
    for *row, who in rows:
        persons.setdefault(who, set()).add(tuple(row))
    sets = [frozenset(held) for held in persons.values()]
    assert found == {held: sets.count(held) for held in sets}
    assert len(profiles) == len(found)
    for (*_, who), profile in zip(rows, table.engine.expand(profiles, np.arange(len(profiles))), strict=True):
        members = profiles.members[profiles.starts[profile] : profiles.starts[profile + 1]]
        assert {decoded[m] for m in members} == persons[who]


def test_without_a_subject_every_record_is_a_person():
    profiles = shoal.read({"x": ["a", "a", "b"]}).profiles()
    assert profiles.counts.tolist() == [2, 1]
    assert profiles.members.tolist() == [0, 1]


def test_an_empty_subject_is_refused():
    table = shoal.read({"id": [1, None, None], "x": [1, 2, 3]}).assign(subject="id")
    with pytest.raises(ColumnError, match="'id' is empty in 2 records"):
        table.profiles()


def test_a_suppressed_subject_is_refused():
    table = shoal.read({"id": ["1", "*", "*"], "x": [1, 2, 3]}, suppressed="*").assign(subject="id")
    with pytest.raises(ColumnError, match="'id' is empty in 2 records"):
        table.profiles()


def test_the_subject_can_be_another_column():
    table = shoal.read({"a": [1], "b": [2]}).assign(subject="a").assign(subject="b")
    assert (table.subject, dict(table.roles)) == ("b", {"b": Role.SUBJECT})


def test_a_table_cannot_be_changed():
    table = shoal.read({"a": [1, 2]})
    with pytest.raises(ValueError, match="read-only"):
        table.codes("a")[0] = 1
    with pytest.raises(TypeError):
        table.roles["a"] = Role.DIRECT


def test_counts_of_records_and_of_persons():
    table = shoal.read({"id": [1, 1, 1, 2], "x": ["a", "a", "b", None]}).assign(subject="id")
    assert table.counts("x").tolist() == [2, 1, 1]
    assert table.persons("x").tolist() == [1, 1, 1]


def test_a_person_with_very_many_rows():
    rows = 50_000
    table = shoal.read({"id": np.zeros(rows, int), "x": np.arange(rows)}).assign(subject="id")
    profiles = table.profiles()
    assert profiles.counts.tolist() == [1]
    assert len(profiles.members) == rows


def test_wide_tables(kernels):
    """A hundred columns are far more than 64 bits."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 50, (200, 100))
    table = shoal.read({f"c{j}": np.concatenate([rows[:, j], rows[:, j]]) for j in range(100)})
    assert table.distinct().counts.tolist() == [2] * 200


def test_missing_equals_missing():
    assert shoal.read({"x": ["a", None, None]}).distinct().counts.tolist() == [1, 2]


def test_repr_tells_roles():
    text = repr(shoal.read({"x": ["a", None]}).assign(quasi="x"))
    assert text.splitlines() == [
        "Table: 2 records × 1 column",
        "column  kind  role                 values",
        "x       text  quasi  some missing       1",
    ]
