"""Several releases of the same individuals, joined record by record."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks import joining
from shoal.attacks.composition import Composition
from shoal.attacks.joined_releases import JoinedReleases
from shoal.attacks.scene import Scene
from shoal.attacks.shown_rows import ShownRows
from shoal.kernels import library
from tests.effort import examples

DX = ["flu", "ms", "gout"]
QUASI = ("age", "sex")
AGES = {
    "30-39": {31, 34, 38},
    "30-34": {31, 34},
    "38-71": {38, 71},
    "*": {31, 34, 38, 71},
    **{str(age): {age} for age in (31, 34, 38, 71)},
}
SEXES = {"f": {"f"}, "m": {"m"}, "*": {"f", "m"}}


def attacked(data, one, *others, **more):
    options = {"quasi": list(QUASI), "sensitive": ["dx"], "attacks": ["composition"], **more}
    return shoal.attack(data, one, also=list(others), **options)


def test_two_releases_disclose_what_each_hides():
    data = {"age": [31, 34, 38], "sex": ["f", "m", "f"], "dx": DX}
    one = {**data, "age": ["30-34", "30-34", "38"], "sex": ["*"] * 3}
    two = {**data, "age": ["*"] * 3}
    found = attacked(data, one, two)
    value = found.of("composition", "dx")
    assert (value.success.value, value.baseline) == (1.0, pytest.approx(2 / 3))
    assert (value.details["certain"], value.details["certain_alone"]) == (1.0, pytest.approx(1 / 3))
    assert found.of("composition", "sex", variant="unreleased value").success.value == pytest.approx(2 / 3)


def test_identity_is_judged_where_records_are_matched():
    data = {"age": [31, 31, 38, 38], "sex": ["f", "m", "f", "m"], "dx": ["flu"] * 4, "lab": [1, 2, 3, 4]}
    one = shoal.anonymize(data, policy("age"))
    two = shoal.anonymize(data, policy("sex"))
    identity = shoal.attack(data, one, also=two, attacks=["composition"]).of("composition", variant="identity")
    assert (identity.success.value, identity.baseline) == (1.0, 0.5)
    assert (identity.details["joined_one_to_one"], identity.details["joined_rightly"]) == (1.0, 1.0)
    assert identity.details["unique"] == 1.0


def policy(column):
    """Generalise one of two quasi-identifiers completely."""
    return shoal.Policy.parse(f"""
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "suppression" }} }}
columns.sex = {{ role = "quasi", hierarchy = {{ kind = "suppression" }} }}
columns.dx = "sensitive"
columns.lab = "insensitive"
require = [{{ model = "k-anonymity", k = 1 }}]
search.levels = {{ age = {[1, 1] if column == "age" else [0, 0]}, sex = {[1, 1] if column == "sex" else [0, 0]} }}
""")


RECORDS = st.lists(
    st.tuples(st.sampled_from([31, 34, 38, 71]), st.sampled_from("fm"), st.sampled_from(DX)), min_size=2, max_size=7
)


@st.composite
def published(draw):
    """Draw individuals and two or three releases of them; a release may lack some of them."""
    people, releases = draw(RECORDS), []
    for _ in range(draw(st.integers(2, 3))):
        kept = [person for person in people if draw(st.integers(0, 5))] or people
        cells = [
            (draw(st.sampled_from([text for text in AGES if age in AGES[text]])),
             draw(st.sampled_from([text for text in SEXES if sex in SEXES[text]])), dx)
            for age, sex, dx in kept
        ]  # fmt: skip
        releases.append(cells)
    return people, releases


@examples(150)
@given(published())
@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_possible_values_against_the_definition(kernels, given):
    """Every combination of records whose cells have common values, and every record without a partner, is possible."""
    people, releases = given
    with library.using(kernels):
        scene = scene_of(people, releases)
        joined = JoinedReleases.of([scene, *scene.others], scene.targets)
        combinations = possible(releases, {age for age, _, _ in people})
        assert sorted(described(joined)) == sorted(combinations)
        for matching in joined.matching(scene.targets, QUASI):
            for guesses in matching.guessed("dx"):
                left = guesses.possible.tolist()
        expected = [len(_values(combinations, age, sex)) for age, sex, _ in people]
        assert left == expected


def _values(combinations, age, sex):
    return {dx for cells in combinations if fits(cells, age, sex) for _, _, dx in cells}


def scene_of(people, releases):
    before = shoal.read(dict(zip((*QUASI, "dx"), zip(*people, strict=True), strict=True)), text=("sex", "dx"))
    before = before.assign(quasi=list(QUASI), sensitive="dx")
    after = [shoal.read({**dict(zip((*QUASI, "dx"), zip(*cells, strict=True), strict=True))}) for cells in releases]
    return Scene.of(before, after[0], others=after[1:])


def described(joined):
    """Return the cells of each combination, without the releases in which it has no row."""
    for place in range(len(joined.weights)):
        both = [(shown, rows[place]) for shown, rows in zip(joined.shown, joined.rows, strict=True) if rows[place] >= 0]
        yield tuple(tuple(_label(shown, name, row) for name in (*QUASI, "dx")) for shown, row in both)


def _label(shown, name, row):
    return shown.scene.release[name].labels()[int(shown.codes(name)[row])].as_py()


def possible(releases, ages):
    """Join distinct rows one release after the other, each with those before it."""

    def joins(before, cells):
        return all(
            AGES[one[0]] & AGES[cells[0]] & ages and SEXES[one[1]] & SEXES[cells[1]] and one[2] == cells[2]
            for one in before
        )

    combinations = {(cells,) for cells in releases[0]}
    for release in releases[1:]:
        rows = set(release)
        joined = {(*before, cells) for before, cells in product(combinations, rows) if joins(before, cells)}
        lonely = {before for before in combinations if not any(joins(before, cells) for cells in rows)}
        strange = {(cells,) for cells in rows if not any(joins(before, cells) for before in combinations)}
        combinations = joined | lonely | strange
    return list(combinations)


def fits(cells, age, sex):
    return all(age in AGES[one[0]] and sex in SEXES[one[1]] for one in cells)


def crowd(records=600, seed=4):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.integers(20, 80, records),
        "sex": rng.choice(["f", "m"], records),
        "dx": rng.choice(DX, records),
        "lab": rng.normal(100, 15, records).round(1),
        "town": rng.choice([f"t{town}" for town in range(12)], records),
    }


def in_tens(ages, step=10, first=0):
    return [f"[{(age - first) // step * step + first}, {(age - first) // step * step + first + step})" for age in ages]


def test_perturbed_columns_weigh_pairs_and_exclude_none():
    """A noisy number and swapped categories contradict the true pairs; the other columns still join the records."""
    data, rng = crowd(), np.random.default_rng(5)
    swapped = np.where(rng.random(600) < 0.3, rng.permutation(data["town"]), data["town"])
    one = {**data, "age": in_tens(data["age"])}
    two = {**data, "age": in_tens(data["age"], 10, 5), "lab": data["lab"] + rng.normal(0, 0.2, 600), "town": swapped}
    scene = Scene.of(
        shoal.read(data).assign(quasi=list(QUASI), sensitive="dx"), shoal.read(one), others=[shoal.read(two)]
    )
    join = joining.Join.of(*ShownRows.of([scene, *scene.others]))
    assert set(join.perturbed) == {"lab", "town"}
    first, second = join.first.rows.origin, join.second.rows.origin
    pairs = join.pairs()
    best = {}
    for left, right, weight in zip(pairs.first, pairs.second, pairs.weights, strict=True):
        best[left] = max(best.get(left, (0, -1)), (weight, right))
    right = [best[first[record]][1] == second[record] for record in range(600)]
    assert np.mean(right) > 0.85


def test_a_perturbed_release_discloses_more_together_with_another():
    data, rng = crowd(), np.random.default_rng(6)
    one = {**data, "age": in_tens(data["age"])}
    two = {**data, "age": in_tens(data["age"], 10, 5), "lab": data["lab"] + rng.normal(0, 0.2, 600)}
    found = attacked(data, one, two, in_order=True).of("composition", variant="identity")
    assert found.success.low > found.baseline


def test_pseudonyms_that_two_releases_share_join_them():
    """With the same key, the pseudonyms of two releases are equal."""
    data = {
        "who": [f"p{number}" for number in range(60)],
        "age": [*range(20, 80)],
        "sex": ["f", "m"] * 30,
        "dx": DX * 20,
    }
    alike = {"dx": ["flu"] * 60}
    one = {"who": [f"x{number}" for number in range(60)], "age": ["*"] * 60, "sex": data["sex"], **alike}
    two = {"who": one["who"], "age": in_tens(data["age"]), "sex": ["*"] * 60, **alike}
    order = np.random.default_rng(7).permutation(60)
    two = {name: [values[place] for place in order] for name, values in two.items()}
    found = attacked({**data, **alike}, one, two, subject="who", in_order=True)
    assert found.of("composition", variant="identity").details["joined_one_to_one"] == 1.0
    assert found.of("composition", "sex", variant="unreleased value").success.value < 1  # tens have both sexes


def test_too_many_pairs_mean_fewer_targets(monkeypatch):
    """Only combinations that are compatible with a target are formed, and they say the same about these targets."""
    data = crowd(200)
    plain = {name: data[name] for name in (*QUASI, "dx")}
    one, two = {**plain, "age": in_tens(data["age"])}, {**plain, "age": in_tens(data["age"], 20, 5)}
    scene = Scene.of(
        shoal.read(plain).assign(quasi=list(QUASI), sensitive="dx"), shoal.read(one), others=[shoal.read(two)]
    )
    whole = JoinedReleases.of([scene, *scene.others], scene.targets)
    monkeypatch.setattr("shoal.attacks.joined_releases.MOST_PAIRS", 8)
    some = JoinedReleases.of([scene, *scene.others], scene.targets)
    assert 0 < len(some.people) < len(whole.people)
    left = {name: _left(joined, some.people) for name, joined in {"whole": whole, "some": some}.items()}
    assert left["whole"] == left["some"]


def _left(joined, people):
    return [
        number
        for matching in joined.matching(people, QUASI)
        for guesses in matching.guessed("dx")
        for number in guesses.possible.tolist()
    ]


def test_a_release_twice_is_no_more_than_once():
    data = crowd(300)
    release = {name: data[name] for name in ("sex", "dx")} | {"age": in_tens(data["age"])}
    found = attacked(data, release, release, in_order=True)
    for result in found.results:
        assert result.success.value == pytest.approx(result.baseline), result.title


def test_targets_are_limited_and_results_reproducible():
    data = crowd(300)
    one, two = {**data, "age": in_tens(data["age"])}, {**data, "age": in_tens(data["age"], 10, 5)}
    results = [attacked(data, one, two, in_order=True, attacks=[Composition(targets=50)]).results for _ in range(2)]
    assert {result.targets for result in results[0]} == {50}
    assert [result.success for result in results[0]] == [result.success for result in results[1]]
