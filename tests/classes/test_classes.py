"""Classes: shapes that are hard on size, and the rules for persons and missing values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models import reference

import shoal
from shoal.classes.classes import Classes
from shoal.classes.grouped import Coarsening
from shoal.classes.members import Members
from shoal.errors import ColumnError
from shoal.kernels.compatibility import Persons
from shoal.kernels.ratios import Ratios


def test_a_hundred_quasi_identifiers(kernels):
    rng = np.random.default_rng(1)
    data = {f"q{place}": rng.integers(0, 3, 500) for place in range(100)}
    data = {name: np.concatenate([cells, cells]) for name, cells in data.items()}
    found = shoal.measures(data, quasi=list(data))
    assert found["k-anonymity"] == 2
    assert Classes.of(shoal.read(data), list(data), []).number == 500


def test_a_million_categories(kernels):
    values = np.arange(1_000_000)
    data = {"code": np.concatenate([values, values[:10]]), "sex": np.zeros(1_000_010, int)}
    classes = Classes.of(shoal.read(data), ["code"], ["sex"])
    assert (classes.number, int(classes.sizes.max())) == (1_000_000, 2)
    wide = Classes.of(shoal.read(data), ["sex"], ["code"])
    assert wide.histograms["code"].distinct().tolist() == [1_000_000]


@pytest.mark.parametrize(("cells", "k", "number"), [([7] * 1000, 1000, 1), (list(range(1000)), 1, 1000)])
def test_one_class_and_all_unique(cells, k, number, kernels):
    data = {"q": cells, "s": ["x", "y"] * 500}
    found = shoal.measures(data, quasi=["q"], sensitive=["s"])
    assert found["k-anonymity"] == k
    assert found["average-risk"] == number / 1000
    assert found["t-closeness"] == (0 if number == 1 else 0.5)
    assert found["l-diversity"] == (2 if number == 1 else 1)


def test_persons_are_counted_once_when_classes_merge():
    table = shoal.read({"who": [1, 1, 2], "year": [2020, 2021, 2021], "dx": ["x", "y", "x"]}).assign(subject="who")
    classes = Classes.of(table, ["year"], ["dx"])
    assert classes.sizes.tolist() == [1, 2]
    merged = classes.rolled({"year": Coarsening.dropped(2)})
    assert merged.sizes.tolist() == [2]
    assert merged.histograms["dx"].counts.tolist() == [2, 1]  # both have x at some time, one has y


def test_records_of_one_person_do_not_protect_each_other():
    """Three visits of one patient are one person, whatever the rows say."""
    data = {"who": [1, 1, 1, 2], "ward": ["a", "a", "a", "b"]}
    assert shoal.k_anonymity(data, quasi=["ward"]) == 1
    assert shoal.k_anonymity({"who": [1, 1, 1], "ward": ["a"] * 3}, quasi=["ward"]) == 3
    assert shoal.k_anonymity({"who": [1, 1, 1], "ward": ["a"] * 3}, quasi=["ward"], subject="who") == 1


def test_missing_until_the_top():
    """With the strictest rule a missing value stands alone until the column says nothing any more."""
    table = shoal.read({"age": [1, 1, None], "s": ["x", "y", "x"]})
    classes = Classes.of(table, ["age"], ["s"], missing="never")
    assert (classes.number, sorted(classes.sizes.tolist())) == (2, [1, 2])
    assert classes.rolled({"age": Coarsening.dropped(2)}).sizes.tolist() == [3]


def test_a_table_of_stars_is_generalised_and_not_suppressed(tmp_path):
    (tmp_path / "a.csv").write_text("age,dx\n*,flu\n*,gout\n")
    classes = Classes.of(shoal.read(tmp_path / "a.csv", suppressed="*"), ["age"], ["dx"])
    assert (classes.sizes.tolist(), classes.suppressed) == ([2], 0)


def test_suppressed_records_count_in_the_reference(tmp_path):
    (tmp_path / "a.csv").write_text("age,dx\n34,flu\n34,flu\n*,gout\n*,gout\n")
    table = shoal.read(tmp_path / "a.csv", suppressed="*")
    assert shoal.t_closeness(table, quasi=["age"], sensitive=["dx"]) == 0.5


@pytest.mark.parametrize(
    ("quasi", "sensitive", "message"),
    [
        ([], ["s"], "No quasi-identifiers"),
        (["q", "s"], ["s"], "'s' is named twice"),
        (["q", "q"], [], "'q' is named twice"),
    ],
)
def test_what_cannot_be_grouped(quasi, sensitive, message):
    with pytest.raises(ColumnError, match=message):
        Classes.of(shoal.read({"q": [1], "s": [2]}), quasi, sensitive)


pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=20)


@given(
    pairs=pairs,
    weights=st.lists(st.integers(1, 9), min_size=5, max_size=5),
    into=st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_members_are_sets(pairs, weights, into):
    holders, groups = (np.array(side, np.uint32) for side in zip(*pairs, strict=True))
    members = Members.of(Persons(holders, groups, np.array(weights)), 6)

    def size(chosen):
        return sum(weights[who] for who in {who for who, where in pairs if where in chosen})

    assert members.counts.tolist() == [size({group}) for group in range(6)]
    merged = members.merged(np.array(into, np.uint32), 3)
    assert merged.counts.tolist() == [size({g for g in range(6) if into[g] == coarse}) for coarse in range(3)]
    chosen = members.chosen(np.array([1, 4]))
    assert chosen.counts.tolist() == [size({1}), size({4})]
    assert members.within(np.array([True, False, True, False, False, False])) == size({0, 2})
    assert chosen.beside(chosen).counts.tolist() == [size({1}), size({4})] * 2


rows = st.lists(
    st.fixed_dictionaries(
        {"who": st.integers(0, 3), "a": st.sampled_from([1, 2, None]), "b": st.sampled_from(["x", None])}
    ),
    min_size=1,
    max_size=12,
)


@given(rows=rows, subject=st.sampled_from([None, "who"]))
def test_compatible_persons(rows, subject):
    table = shoal.read({name: [row[name] for row in rows] for name in rows[0]})
    table = table.assign(subject=subject) if subject else table
    classes = Classes.of(table, ["a", "b"], [], missing="wildcard")
    wanted = reference.compatible(rows, ["a", "b"], subject=subject)
    assert sorted(set(classes.crowd.tolist())) == sorted(set(wanted))


integers = st.integers(0, 10**12)


@given(st.lists(st.tuples(integers, st.integers(1, 10**12)), min_size=1, max_size=20), st.fractions(0, 2))
def test_ratios_are_exact(given_, bound):
    from fractions import Fraction

    ratios = Ratios(*(np.array(side, np.int64) for side in zip(*given_, strict=True)))
    exact = [Fraction(*pair) for pair in given_]
    assert (ratios.max(), ratios.min(), ratios.sum()) == (max(exact), min(exact), sum(exact))
    for limit in (bound, exact[0]):
        assert ratios.at_most(limit).tolist() == [one <= limit for one in exact]
        assert ratios.below(limit).tolist() == [one < limit for one in exact]
