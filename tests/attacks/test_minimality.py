"""Adversaries who know that nothing was generalised or suppressed without need."""

import json
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
from shoal.errors import PolicyError, ReleaseError
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


INDEPENDENT = """
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [5, 10, 20, 40] }} }}
columns.town = "quasi"
columns.dx = "sensitive"
require = [{{ model = "k-anonymity", k = 4 }}, {{ model = "l-diversity", l = 2 }}]
search = {{ recoding = "{recoding}", suppression = 0.2, independent = {independent} }}
"""


def related(number=600, seed=5):
    """Return individuals of whom the young have the same value."""
    rng = np.random.default_rng(seed)
    ages, towns = rng.integers(20, 60, number), rng.choice(["a", "b", "c"], number)
    sick = rng.random(number) < np.where(ages < 30, 0.02, 0.3)
    return {"age": ages, "town": towns, "dx": np.where(sick, "yes", "no")}


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian", "microaggregation"])
def test_independent_releases_disclose_nothing_by_the_algorithm(recoding):
    data = related()
    exposed, independent = (
        shoal.anonymize(data, shoal.Policy.parse(INDEPENDENT.format(recoding=recoding, independent=value)))
        for value in ("false", "true")
    )
    assert all(judgement.verdict.satisfied for judgement in independent.part.requirements)
    assert independent.quality["loss"].total.cost >= exposed.quality["loss"].total.cost - 1e-12
    result = shoal.attack(data, independent, attacks=["minimality"]).results[0]
    assert result.details["inferred_by_the_algorithm"] == 0
    assert any("who knows the algorithm" in note for note in exposed.notes)
    assert not any("who knows the algorithm" in note for note in independent.notes)


def test_independent_classes_are_a_function_of_the_quasi_identifiers():
    """With the same class size, other values give the same generalisation and suppression."""
    data, shown = related(), []
    asked = shoal.Policy.parse(INDEPENDENT.format(recoding="local", independent="true"))
    for seed in (1, 2):
        values = np.random.default_rng(seed).permutation(np.repeat([f"v{value}" for value in range(60)], 10))
        release = shoal.anonymize({**data, "dx": values}, asked)
        table, order = release.to_frame("pyarrow").to_pydict(), np.argsort(release.records)
        cells = [(table["age"][row], table["town"][row]) for row in order]
        shown.append((release.classes, np.sort(release.records).tolist(), cells))
    sizes = [min(map(cells.count, cells)) for _, _, cells in shown]
    assert sizes[0] == sizes[1]  # otherwise the number that classes depend on is another
    assert shown[0] == shown[1]


def test_the_manifest_says_who_can_infer_values(tmp_path):
    data = related()
    for value, exposed in (("false", True), ("true", False)):
        release = shoal.anonymize(data, shoal.Policy.parse(INDEPENDENT.format(recoding="global", independent=value)))
        release.save(tmp_path / f"{value}.csv")
        manifest = json.loads((tmp_path / f"{value}.csv.manifest.json").read_text(encoding="utf-8"))
        assert manifest["minimality"]["exposed"] is exposed
    plain = shoal.anonymize(data, quasi=["age", "town"], k=4)
    plain.save(tmp_path / "plain.csv")
    assert "minimality" not in json.loads((tmp_path / "plain.csv.manifest.json").read_text(encoding="utf-8"))


def test_options_that_read_values_are_refused():
    spread = '{ kind = "microaggregation", spread = "dx" }'
    text = INDEPENDENT.format(recoding="X", independent="true").replace('"X"', spread)
    with pytest.raises(PolicyError, match="independent cannot be combined"):
        shoal.Policy.parse(text)
    bounded = INDEPENDENT.format(recoding="global", independent="true").replace("{ rec", "{ levels.age = [0, 1], rec")
    with pytest.raises(ReleaseError, match="No class size meets"):
        shoal.anonymize({**related(), "dx": ["no"] * 599 + ["yes"]}, shoal.Policy.parse(bounded))
