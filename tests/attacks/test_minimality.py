"""Adversaries who know that nothing was generalised or suppressed without need."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks.minimality import Minimality
from shoal.attacks.publication import Publication, Withheld, WithheldGroup
from shoal.attacks.scene import Scene
from shoal.attacks.withheld import Judge, posterior
from shoal.hierarchy.hierarchy import ladder
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from tests.effort import examples

WONG = {"zip": ["1"] * 2 + ["2"] * 5, "dx": ["hiv", "hiv", *["flu"] * 5]}


def scene_of(data, release, truth=None, **more):
    before = shoal.read(data).assign(quasi=[name for name in data if name != "dx"], sensitive="dx")
    truth = np.arange(before.records) if truth is None else np.array(truth)
    return Scene.of(before, shoal.read(release), truth=truth, **more)


def test_the_example_of_wong():
    """Two of seven people have HIV. The five with the same postcode cannot have failed, so the two others have it."""
    scene = scene_of(WONG, {**WONG, "zip": ["{1, 2}"] * 7})
    result = next(Minimality(l=2, values=["hiv"]).run(scene))
    assert result.persons[:2].tolist() == [1.0, 1.0]
    assert result.baseline == 0.0
    assert result.success.value == 1.0  # nobody is left who has HIV
    by_policy = {"require": (AlphaKAnonymity(alpha=0.5, k=1, values=("hiv",)),)}
    required = scene_of(WONG, {**WONG, "zip": ["{1, 2}"] * 7}, requirements=by_policy["require"])
    assert next(Minimality().run(required)).persons[:2].tolist() == [1.0, 1.0]


def test_suppressed_groups_are_homogeneous():
    """A group that is large enough was suppressed because its values are the same: the frequent one."""
    rng = np.random.default_rng(2)
    data = {"town": [f"t{place // 8}" for place in range(240)], "dx": rng.choice(["no", "yes"], 240, p=[0.7, 0.3])}
    data["dx"][:16] = "no"
    asked = shoal.Policy.parse("""
version = 1
columns = { town = "quasi", dx = "sensitive" }
require = [{ model = "k-anonymity", k = 5 }, { model = "l-diversity", l = 2 }]
search.suppression = 0.2
""")
    release = shoal.anonymize(data, asked)
    assert release.suppressed >= 16
    result = shoal.attack(data, release, attacks=["minimality"]).results[0]
    assert result.details["withheld_and_suppressed"] == release.suppressed
    assert result.details["suppressed_without_need"] == 0
    assert np.nanmin(result.persons[:16]) > 0.99  # 0.7^8 against 0.3^8
    assert result.success.value == pytest.approx(release.suppressed / 240)
    assert result.baseline == 0


@examples(60)
@given(
    st.lists(st.booleans(), min_size=3, max_size=7),
    st.integers(1, 5),
    st.sampled_from([0.4, 0.5, 0.6, 0.75]),
)
def test_beliefs_against_all_assignments(values, size, alpha):
    """Every order of the values of a class is equally probable; those in which nothing fails are ruled out."""
    size = min(size, len(values) - 1)
    data = {"zip": ["a"] * len(values), "dx": [str(value) for value in values]}
    scene = scene_of(data, {**data, "zip": ["*"] * len(values)})
    judge = Judge.of(scene, "dx", [AlphaKAnonymity(alpha=alpha, k=1)])
    codes = scene.original.codes("dx").astype(int)
    number = judge.column.size
    group = WithheldGroup(np.arange(size), np.bincount(codes, minlength=number).astype(np.int64), Withheld.EXACT)
    shares = np.bincount(codes, minlength=number) / len(codes)
    found = posterior(judge, group, shares, 5, np.random.default_rng(0))

    def fails(part):
        return max(part.count(value) for value in part) / len(part) > alpha

    orders = set(permutations(codes.tolist()))
    failing = [order for order in orders if fails(order[:size]) or fails(order[size:])]
    if not failing or len(failing) == len(orders):
        assert found is None
        return
    expected = [np.mean([order[0] == value for order in failing]) for value in range(number)]
    assert found[0] == pytest.approx(expected)
    assert found[1] == pytest.approx(len(failing) / len(orders))


def test_an_algorithm_that_does_not_read_values_tells_nothing():
    """Groups that are generalised in any case are withheld as often if they meet the requirements."""
    rng = np.random.default_rng(3)
    data = {"age": rng.integers(20, 60, 600), "sex": rng.choice(["f", "m"], 600), "dx": rng.choice(["a", "b"], 600)}
    asked = shoal.Policy.parse("""
version = 1
columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 40] } }
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{ model = "k-anonymity", k = 5 }, { model = "l-diversity", l = 2 }]
search.levels = { age = [1, 1], sex = [0, 0] }
""")
    result = shoal.attack(data, shoal.anonymize(data, asked), attacks=["minimality"]).results[0]
    assert result.details["withheld"] > 0
    assert result.details["exact_without_need"] > 0.5
    assert result.success.value == 0


def test_labels_that_are_the_same_on_several_levels_are_one_scheme():
    data = {"town": ["x1", "x2", "y"] * 20, "dx": ["a", "b"] * 30}
    before = shoal.read(data).assign(quasi="town", sensitive="dx")
    levels = {"town": ladder(before["town"], [["x", "x", "y"]])}
    release = shoal.read({**data, "town": ["x", "x", "y"] * 20})
    scene = Scene.of(before, release, hierarchies=levels, truth=np.arange(60))
    publication = Publication.of(scene, scene.truth)
    assert [scheme for scheme, way in publication._schemes() if way is Withheld.SCHEME] == [(1,)]
    groups = list(publication.groups(before.codes("dx").astype(int), 2, 5))
    assert {group.way for group in groups} == {Withheld.EXACT}
    assert sorted(len(group.members) for group in groups) == [20, 20]
