"""Attacks on tables of which the truth is known: what must succeed does, and what cannot does not."""

import numpy as np
import pytest

import shoal
from shoal.attacks.attack import ATTACKS
from shoal.attacks.background_knowledge import BackgroundKnowledge
from shoal.attacks.events import Events
from shoal.attacks.linkage import Linkage
from shoal.attacks.scene import Scene
from shoal.errors import AttackError, ShoalError
from shoal.recoding.matching import match

SIZE = 600


def independent(seed, size=SIZE):
    """Return a table in which nothing hangs on anything."""
    seeded = np.random.default_rng(seed)
    return {
        "age": seeded.integers(20, 80, size),
        "sex": seeded.choice(["f", "m"], size),
        "town": seeded.choice(["a", "b", "c"], size),
        "dx": seeded.choice(["flu", "ms", "gout"], size),
        "lab": seeded.normal(50, 10, size).round(2),
        "coin": seeded.choice(["heads", "tails"], size),
    }


def roles(data):
    return shoal.read(data).assign(quasi=["age", "sex", "town"], sensitive=["dx"], insensitive=["lab", "coin"])


def blank(data):
    """Return a release that shows nothing of the quasi-identifiers."""
    return shoal.read({**data, "age": ["20-79"] * len(data["age"]), "sex": ["*"] * SIZE, "town": ["*"] * SIZE})


# Peng 2021, figures 2 and 3: three classes of 4, 3 and 3 persons.
PENG = {
    "zip": ["4767*"] * 4 + ["4790*"] * 3 + ["4760*"] * 3,
    "age": ["2*"] * 4 + ["40-59"] * 3 + ["3*"] * 3,
    "dx": ["Heart"] * 4 + ["Flu", "Heart", "Cancer"] + ["Heart", "Cancer", "Cancer"],
}


def peng():
    zips = [f"{stem.rstrip('*')}{last}" for stem, last in zip(PENG["zip"], "0123456789", strict=True)]
    ages = [29, 22, 27, 28, 43, 52, 47, 30, 36, 32]
    before = shoal.read({"zip": zips, "age": ages, "dx": PENG["dx"]}).assign(quasi=["zip", "age"], sensitive=["dx"])
    return Scene.of(before, shoal.read(PENG), truth=np.arange(10))


def test_homogeneity_in_peng():
    """All four who may be the first person have a heart disease."""
    result = next(ATTACKS["homogeneity"]().run(peng()))
    assert result.persons.tolist() == pytest.approx([1, 1, 1, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3])
    assert (result.success.value, result.baseline) == pytest.approx((0.4, 0.4 * 0.6))  # six of ten have one anyway


def test_background_knowledge_in_peng():
    """Who knows that the last person has no heart disease knows that it is cancer; a doubt w makes it 2 / (2 + w)."""
    sure = next(BackgroundKnowledge(rule_out=["Heart"], excluded=0).run(peng()))
    assert sure.persons[9] == 1.0
    doubt = next(BackgroundKnowledge(prior={"Heart": 0.5}, excluded=0).run(peng()))
    assert doubt.persons[9] == pytest.approx(2 / 2.5)
    plain = next(BackgroundKnowledge(excluded=0).run(peng()))
    assert plain.persons[9] == pytest.approx(2 / 3)
    with pytest.raises(AttackError, match="value of the background knowledge"):
        next(BackgroundKnowledge(rule_out=["Hart"]).run(peng()))


@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_learned_from_a_release_that_says_nothing(seed):
    """On independent columns with nothing shown every attack is as good as its baseline."""
    data, others = independent(seed), independent(seed + 100)
    found = shoal.attack(roles(data), blank(data), outsiders=roles(others), also=blank(data), in_order=True, seed=seed)
    tried = {one.attack for one in found.results}
    assert tried >= {"homogeneity", "linkage", "membership", "reconstruction", "attribute-inference", "inference"}
    assert_nothing_is_gained(found)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_is_learned_from_a_release_that_is_made_up(seed):
    """People who have nothing in common with those who are attacked but how frequent everything is."""
    data, others, made_up = (independent(seed + more) for more in (0, 100, 200))
    coarse = {**made_up, "age": [f"{age // 20 * 20}-{age // 20 * 20 + 19}" for age in made_up["age"]]}
    for release in (made_up, coarse):
        found = shoal.attack(roles(data), release, outsiders=roles(others), seed=seed)
        assert {one.attack for one in found.results} >= {"homogeneity", "singling-out", "skewness", "membership"}
        assert_nothing_is_gained(found)


def assert_nothing_is_gained(found):
    above = [one for one in found.results if one.success.low > one.baseline + 1e-9]
    assert len(above) <= 1, above  # of intervals of 95 %, one in forty lies above
    assert all(one.success.low < one.baseline + 0.03 for one in found.results)
    assert all(one.success.high > one.baseline - 0.06 for one in found.results)


def test_the_untouched_original_gives_everybody_away_who_is_unique():
    data = independent(3)
    table = roles(data)
    found = shoal.attack(table, table, in_order=True, attacks=["linkage", "distance-linkage", "homogeneity"])
    sizes = shoal.read(data).distinct(["age", "sex", "town"])
    expected = (1 / sizes.counts[sizes.origin]).mean()
    assert found.of("linkage").success.value == pytest.approx(expected)
    assert found.of("distance-linkage").success.value == pytest.approx(expected)
    assert found.of("linkage").details["unique_and_right"] == pytest.approx((sizes.counts == 1).sum() / SIZE)
    assert found.of("homogeneity").success.value >= found.of("linkage").details["unique_and_right"]


def test_wrong_and_lacking_facts_lead_astray():
    data = independent(4)
    scene = Scene.of(roles(data), roles(data), truth=np.arange(SIZE))
    plain, dirty, blind = (
        next(attack.run(scene)).success.value for attack in (Linkage(), Linkage(typos=0.2), Linkage(known=0.0))
    )
    assert blind == pytest.approx(1 / SIZE)
    assert blind < dirty < plain


def test_a_register_tells_who_somebody_is():
    data = {**independent(5, 200), "name": [f"P{number}" for number in range(200)]}
    table = shoal.read(data).assign(quasi=["age", "sex"], sensitive=["dx"], direct=["name"])
    everybody = independent(6, 400)
    register = {
        "name": [f"P{number}" for number in range(200)] + [f"Q{number}" for number in range(200)],
        "age": [*data["age"], *everybody["age"][:200]],
        "sex": [*data["sex"], *everybody["sex"][:200]],
    }
    found = shoal.attack(table, table, external=register, in_order=True, attacks=["linkage"])
    who = found.of("linkage", variant="register")
    crowd = shoal.read(register).distinct(["age", "sex"])
    expected = (1 / crowd.counts[crowd.origin][:200]).mean()
    assert who.success.value == pytest.approx(expected)
    assert who.details["in_register"] == 1.0


def test_a_register_need_not_have_every_column():
    data = {**independent(5, 200), "name": [f"P{number}" for number in range(200)]}
    table = shoal.read(data).assign(quasi=["age", "sex"], sensitive=["dx"], direct=["name"])
    dirty = Linkage(typos=0.1, known=0.9)
    for columns in (["name", "age"], ["name"]):
        register = {name: data[name] for name in columns}
        found = shoal.attack(table, table, external=register, in_order=True, attacks=[dirty])
        assert len(found.results) == len(columns)  # by records and, with something known, by the register


def test_noise_does_not_hide_records_from_distances():
    data = independent(7)
    noisy = shoal.read({**data, "age": np.asarray(data["age"]) + np.random.default_rng(11).choice([-1, 1], SIZE)})
    found = shoal.attack(roles(data), noisy, in_order=True, attacks=["linkage", "distance-linkage"])
    assert found.of("distance-linkage").success.value > 10 * found.of("linkage").success.value
    assert found.of("distance-linkage").curve[-1].success.value > 0.9


def test_features_tell_demographics_where_they_hang_together():
    seeded = np.random.default_rng(12)
    sex = seeded.choice(["f", "m"], 1500)
    height = np.where(sex == "f", 163, 178) + seeded.normal(0, 5, 1500)
    table = shoal.read({"sex": sex, "height": height.round(), "coin": seeded.choice(["x", "y"], 1500)})
    table = table.assign(quasi=["sex", "coin"], insensitive=["height"])
    hidden = shoal.read({"sex": ["*"] * 1500, "coin": ["*"] * 1500, "height": height.round()})
    found = shoal.attack(table, hidden, in_order=True, attacks=["reconstruction"])
    assert found.of("reconstruction", "sex").success.low > 0.85
    assert found.of("reconstruction", "coin").covers_baseline
    assert [point.at for point in found.of("reconstruction", "sex").curve] == [0.01, 0.05, 0.2, 0.5, 0.8]


def test_events_single_people_out_the_more_the_more_are_known():
    seeded = np.random.default_rng(13)
    persons = np.repeat(np.arange(200), 6)
    data = {"who": [f"p{person}" for person in persons], "day": seeded.integers(0, 40, 1200), "x": ["a"] * 1200}
    table = shoal.read(data).assign(subject="who", quasi=["day"])
    result = next(Events(known=4).run(Scene.of(table, shoal.read(data), truth=np.arange(1200))))
    values = [point.success.value for point in result.curve]
    assert values == sorted(values)
    assert values[0] < 0.1
    assert values[3] > 0.5


def test_counting_gives_away_what_it_refuses_to_count():
    data = independent(9)
    found = shoal.attack(roles(data), roles(data), in_order=True, attacks=[ATTACKS["tracker"](least=10, targets=40)])
    sizes = shoal.read(data).distinct(["age", "sex", "town"])
    result = found.of("tracker")
    alone = sizes.counts[sizes.origin] == 1
    assert result.persons[~np.isnan(result.persons)][alone[~np.isnan(result.persons)]].all()
    assert result.details["directly"] == 0  # no group is as large as the smallest count that is answered


def test_large_groups_are_asked_about_directly():
    """A group of at least ten with the same value needs no tracker."""
    data = {"age": [30] * 20 + [40] * 20, "dx": ["flu"] * 20 + ["ms", "flu"] * 10}
    options = {"quasi": "age", "sensitive": "dx", "in_order": True}
    result = shoal.attack(data, data, attacks=[ATTACKS["tracker"](least=10)], **options).results[0]
    assert result.details["directly"] == 0.5
    assert result.success.value == 0.5
    assert result.baseline == 0.75


def test_records_are_matched_by_what_they_show():
    data = independent(10)
    table = roles(data)
    policy = shoal.Policy.parse(
        "version = 1\n[columns]\nage = 'quasi'\nsex = 'quasi'\ntown = 'quasi'\ndx = 'sensitive'\n"
        "lab = 'insensitive'\ncoin = 'insensitive'\n"
        "[[require]]\nmodel = 'k-anonymity'\nk = 5\n[search]\nsuppression = 0.1\n"
    )
    release = shoal.anonymize(table, policy)
    truth = np.full(SIZE, -1)
    truth[release.records] = np.arange(release.table.records)
    found = match(table, release.table, hierarchies=policy.hierarchies(table)).rows
    same = [
        release.table.codes(name)[found[found >= 0]] == release.table.codes(name)[truth[found >= 0]] for name in data
    ]
    assert ((found >= 0) == (truth >= 0)).mean() > 0.95
    assert np.all(same, axis=0).mean() > 0.95
    a, b = (shoal.attack(table, one, policy, attacks=["linkage"]).of("linkage") for one in (release, release.table))
    assert a.success.value == pytest.approx(b.success.value, abs=0.01)
    assert a.success.value <= 1 / 5


def test_the_demo_hospital(demo_hospital):
    """Linkage finds everybody before and few after; sex is read from other columns, ethnicity is not."""
    patients = demo_hospital.patients
    table = patients.assign(
        quasi=["birth_date", "sex", "postcode", "ethnicity"],
        sensitive=["hypertension"],
        insensitive=["height", "weight", "bmi"],
        subject="patient_id",
    )
    ladders = "birth_date = { role = 'quasi', hierarchy = { kind = 'date' } }\n"
    policy = shoal.Policy.parse(
        f"version = 1\n[data]\nsubject = 'patient_id'\n[columns]\n{ladders}sex = 'quasi'\npostcode = 'quasi'\n"
        "ethnicity = 'quasi'\nhypertension = 'sensitive'\nheight = 'insensitive'\nweight = 'insensitive'\n"
        "bmi = 'insensitive'\n"
        "[[require]]\nmodel = 'k-anonymity'\nk = 5\n[search]\nrecoding = 'local'\nsuppression = 0.05\n"
    )
    tried = ["linkage", "attribute-inference", "reconstruction"]
    before = shoal.attack(table, table, in_order=True, attacks=tried[:2])
    after = shoal.attack(patients, shoal.anonymize(patients, policy), attacks=tried)
    assert before.of("linkage").success.value > 0.95
    assert after.of("linkage").success.value < 0.2
    assert not after.of("attribute-inference").covers_baseline  # k-anonymity does not stop it
    assert after.of("reconstruction", "sex").lift > 0.3
    assert after.of("reconstruction", "ethnicity").lift < 0.1


def test_the_same_seed_gives_the_same_results():
    data = independent(12)
    first, second = (shoal.attack(roles(data), blank(data), seed=4, in_order=True) for _ in range(2))
    assert [repr(one.success) for one in first.results] == [repr(one.success) for one in second.results]


@pytest.mark.parametrize(
    "wrong",
    [{"targets": 0}, {"seed": -1}, {"attacks": ["hom"]}, {"quasi": ["nothing"]}, {"in_order": True}],
)
def test_what_cannot_be_tried_is_refused(wrong):
    data = {"age": [1, 2, 3], "dx": ["a", "b", "a"]}
    with pytest.raises(ShoalError):
        shoal.attack(data, {"age": [1, 2], "dx": ["a", "b"]}, **{"quasi": ["age"], "sensitive": ["dx"], **wrong})


def test_every_attack_says_what_it_is():
    for name in ATTACKS:
        kind = ATTACKS[name]
        assert kind.name == name
        assert kind.__doc__
        assert "Baseline" in kind.__doc__ or "guessing" in kind.__doc__
