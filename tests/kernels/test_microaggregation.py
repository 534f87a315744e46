"""Groups of near points: both implementations, the definition, and the figures of the literature."""

import csv
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from shoal.kernels import library
from shoal.kernels.microaggregation import NONE, k_member, mdav, univariate, v_mdav
from shoal.kernels.regrouping import regrouped

METHODS = {
    "mdav": mdav,
    "k-member": k_member,
    "v-mdav 0.8": lambda points, persons, k: v_mdav(points, persons, k, 0.8),
    "v-mdav 1.1": lambda points, persons, k: v_mdav(points, persons, k, 1.1),
}
REFERENCE = {  # 100 SSE / SST of MDAV, as an independent program and sdcMicro print it
    "CASCrefmicrodata.csv": {3: 5.692186, 4: 7.494700, 5: 9.088435, 6: 10.384714, 10: 14.155930},
    "EIA.csv": {3: 0.482939, 4: 0.671345, 5: 1.666675, 6: 1.307756, 10: 3.839670},
}
AGI = 1  # the place of this column in Census
LOST = {"UTILNAME", "STATE", "YEAR", "MONTH"}  # the literature uses the other eleven attributes of EIA


def standardised(shared, name):
    with (shared / "data" / "casc" / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    values = np.array([[float(row[column]) for column in rows[0] if column not in LOST] for row in rows])
    return (values - values.mean(axis=0)) / values.std(axis=0)


def squares(points, persons, labels):
    """The sum of squared distances from the centres of the groups, added up group by group."""
    return sum(
        float((persons[own, None] * (points[own] - np.average(points[own], axis=0, weights=persons[own])) ** 2).sum())
        for own in (labels == group for group in np.unique(labels))
    )


def loss(points, labels):
    ones = np.ones(len(points), np.uint32)
    return 100 * squares(points, ones, labels) / squares(points, ones, np.zeros(len(points)))


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, values in REFERENCE.items() for k in values])
def test_mdav_has_the_information_loss_of_the_literature(shared, name, k):
    points = standardised(shared, name)
    labels = mdav(points, np.ones(len(points), np.uint32), k)
    assert loss(points, labels) == pytest.approx(REFERENCE[name][k], rel=1e-6, abs=5e-7)


@pytest.mark.parametrize(("k", "most"), [(3, 5.25), (5, 8.20)])
def test_regrouping_lowers_the_loss_of_census(shared, k, most):
    points = standardised(shared, "CASCrefmicrodata.csv")
    persons = np.ones(len(points), np.uint32)
    starts = [method(points, persons, k) for method in METHODS.values()]
    after = [regrouped(points, persons, start, k) for start in starts if not (start == NONE).any()]
    assert min(loss(points, labels) for labels in after) <= most


numbers = st.lists(
    st.tuples(st.integers(0, 5), st.floats(-3, 3).map(lambda x: round(x, 2)), st.integers(1, 3)),
    min_size=1,
    max_size=40,
)


@given(rows=numbers, k=st.integers(2, 5), method=st.sampled_from(sorted(METHODS)))
@examples(300)
def test_both_implementations_form_the_same_groups_of_enough_persons(rows, k, method):
    points = np.array([[float(x), y] for x, y, _ in rows])
    persons = np.array([min(weight, k - 1) for *_, weight in rows], np.uint32)
    found = {}
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            labels = METHODS[method](points, persons, k)
            found[kernels] = labels.tolist()
            grouped = labels != NONE
            if grouped.all():
                better = regrouped(points, persons, labels, k)
                found[kernels, "regrouped"] = better.tolist()
                assert (np.bincount(better, persons) >= k).all()
                assert squares(points, persons, better) <= squares(points, persons, labels) * (1 + 1e-9)
    assert found["c"] == found["numpy"]
    assert found.get(("c", "regrouped")) == found.get(("numpy", "regrouped"))
    sizes = np.bincount(labels[grouped], persons[grouped])
    assert (sizes >= k).all()
    assert persons[~grouped].sum() < k


def all_groups(points, k):
    """Every division of some points into groups of at least k."""
    if not points:
        yield ()
        return
    first, *rest = points
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [point for point in rest if point not in others]
            for groups in all_groups(left, k):
                yield ((first, *others), *groups)


@given(values=st.lists(st.integers(0, 30), min_size=2, max_size=9, unique=True), k=st.integers(2, 3))
def test_one_column_is_grouped_optimally(values, k):
    if len(values) < k:
        return
    points = sorted(float(value) for value in values)
    best = min(
        sum(sum((value - sum(group) / len(group)) ** 2 for value in group) for group in groups)
        for groups in all_groups(points, k)
    )
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            labels = univariate(np.array(points), np.ones(len(points), np.uint32), k)
        assert squares(np.array(points)[:, None], np.ones(len(points)), labels) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(("k", "value"), [(3, 0.000828), (5, 0.002663), (10, 0.011162)])
def test_the_optimum_of_one_column_of_census(shared, k, value):
    points = np.sort(standardised(shared, "CASCrefmicrodata.csv")[:, AGI])
    labels = univariate(points, np.ones(len(points), np.uint32), k)
    assert loss(points[:, None], labels) == pytest.approx(value, abs=5e-7)


@given(rows=numbers, k=st.integers(2, 6))
def test_weighted_values_are_grouped_alike_by_both_implementations(rows, k):
    values = np.sort([y for _, y, _ in rows])
    persons = np.array([weight for *_, weight in rows], np.uint32)
    if persons.sum() < k:
        return
    found = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found.append(univariate(values, persons, k))
    assert found[0].tolist() == found[1].tolist()
    assert (np.bincount(found[0], persons) >= k).all()
