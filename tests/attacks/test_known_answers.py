"""Tables that are built so that the right answer is known, one for each way in which an attack went wrong."""

import json

import numpy as np
import pytest

import shoal
from shoal.analyses.estimate import Estimate
from shoal.attacks.attack import ATTACKS
from shoal.attacks.background_knowledge import BackgroundKnowledge
from shoal.attacks.linkage import Linkage
from shoal.attacks.membership import Membership
from shoal.attacks.reconstruction import Reconstruction
from shoal.attacks.scene import Scene
from shoal.attacks.singling_out import SinglingOut
from shoal.attacks.truth import in_register
from shoal.errors import AttackError, ColumnError, RecodingError
from shoal.kernels import library
from shoal.recoding.content import Content
from shoal.recoding.matching import match
from tests.command_line import run


def people(size, seed):
    """Return people of whom all but the smaller sets of facts are shared by some."""
    seeded = np.random.default_rng(seed)
    return {
        "age": seeded.integers(20, 80, size),
        "sex": seeded.choice(["f", "m"], size),
        "town": seeded.choice(["a", "b", "c", "d"], size),
        "dx": seeded.choice(["flu", "ms", "gout"], size),
    }


KNOWN = {"quasi": ["age", "sex", "town"], "sensitive": ["dx"]}


def shuffled(data, seed):
    order = np.random.default_rng(seed).permutation(len(data["age"]))
    return {name: np.asarray(cells)[order] for name, cells in data.items()}


# ---- persons, not records


def visits(persons, number, seed=0):
    """Return so many visits of each person, everybody unique by age and sex together."""
    seeded = np.random.default_rng(seed)
    return {
        "who": np.repeat([f"p{person}" for person in range(persons)], number),
        "age": np.repeat(np.arange(persons) % 50 + 20, number),
        "sex": np.repeat(np.where(np.arange(persons) < 50, "f", "m"), number),
        "dx": seeded.choice(["flu", "ms", "gout"], persons * number),
    }


def test_any_record_of_a_person_is_the_right_one():
    data = visits(80, 5)
    names = ["linkage", "distance-linkage", "probabilistic-linkage", "singling-out"]
    found = shoal.attack(
        data, data, quasi=["age", "sex"], sensitive=["dx"], subject="who", in_order=True, attacks=names
    )
    for name in names[:3]:
        assert found.of(name).success.value == pytest.approx(1.0), name
    nameless = {name: cells for name, cells in data.items() if name != "who"}
    given = {"quasi": ["age", "sex"], "subject": "who", "in_order": True}
    assert shoal.attack(data, nameless, attacks="linkage", **given).of("linkage").success.value == pytest.approx(1.0)
    twin = {"who": data["who"], "first": np.repeat(np.arange(80), 5), "second": np.repeat(np.arange(80) * 2, 5)}
    joined = shoal.attack(twin, twin, quasi=["first", "second"], subject="who", in_order=True, attacks="linkability")
    assert joined.of("linkability").success.value == pytest.approx(1.0)
    assert found.of("singling-out").success.value > 0.9


def test_a_register_has_one_line_of_each_person():
    data = visits(80, 3)
    register = {"who": [f"p{person}" for person in range(80)], "age": data["age"][::3], "sex": data["sex"][::3]}
    nameless = {name: cells for name, cells in data.items() if name != "who"}
    given = {"quasi": ["age", "sex"], "subject": "who", "in_order": True, "attacks": ["linkage"]}
    found = shoal.attack(data, nameless, external=register, key="who", **given).of("linkage", variant="register")
    assert found.details["in_register"] == 1.0
    assert found.success.value == pytest.approx(1.0)


# ---- several releases, strangers and one dictionary


def test_a_second_release_is_read_as_the_first_is():
    """Values that only strangers or another release have must not move those of others."""
    data = {"age": [31, 34, 38], "sex": ["f", "m", "f"], "dx": ["flu", "ms", "gout"]}
    one = {"age": ["30-34", "30-34", "38"], "sex": ["*"] * 3, "dx": data["dx"]}
    two = {"age": ["*"] * 3, "sex": ["f", "m", "f"], "dx": data["dx"]}
    given = {"quasi": ["age", "sex"], "sensitive": ["dx"], "also": two, "attacks": ["composition"]}
    for outsiders in (None, {"age": [10, 33], "sex": ["f", "m"], "dx": ["ms", "a"]}):
        found = shoal.attack(data, one, outsiders=outsiders, **given).of("composition", "dx")
        assert (found.success.value, round(found.baseline, 2)) == (1.0, 0.67)


@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_a_noisy_release_and_an_untouched_one(kernels):
    data = people(60, 1)
    noisy = {**data, "age": np.asarray(data["age"]) + 3}
    with library.using(kernels):
        found = shoal.attack(data, noisy, also=data, in_order=True, attacks=["composition"], **KNOWN)
    assert found.of("composition", "dx").details["values_left_alone"][1] < 2


def test_whole_numbers_may_become_means():
    data = people(300, 2)
    means = {**data, "age": np.round(np.asarray(data["age"]) / 10) * 10 + 0.25}
    found = shoal.attack(data, means, in_order=True, attacks=["distance-linkage", "linkage"], **KNOWN)
    assert found.of("distance-linkage").success.value > 0.05
    assert found.of("linkage").details["no_candidate"] == 1.0  # nobody is 30.25 years old


# ---- what cells say


def test_an_empty_cell_may_be_anybodys():
    """Programs that suppress cells leave them empty."""
    release = {"age": [31, None, 71], "dx": ["a", "b", "c"]}
    found = shoal.attack({"age": [31, 34, 71], "dx": ["a", "b", "c"]}, release, quasi="age", in_order=True)
    assert found.of("linkage").persons.tolist() == [1.0, 1.0, 1.0]
    texts = {"town": ["x", None, "z", None]}
    found = shoal.attack({"town": ["x", "y", "z", None]}, texts, quasi="town", in_order=True, attacks="linkage")
    assert found.of("linkage").persons.tolist() == [1.0, 0.5, 1.0, 0.5]


def test_an_empty_cell_is_one_where_there_were_as_many():
    data = {"town": ["x", None, "z", None]}
    found = shoal.attack(data, data, quasi="town", in_order=True, attacks="linkage").of("linkage")
    assert found.persons.tolist() == [1.0, 0.5, 1.0, 0.5]


def test_what_is_not_understood_is_told():
    data = people(40, 3)
    release = {**data, "age": ["thirty or so"] * 30 + ["20-79"] * 10}
    found = shoal.attack(data, release, in_order=True, attacks="linkage", **KNOWN)
    assert any("counted as suppressed: 'age' (30 records)" in note for note in found.notes)
    assert not any("thirty" in note for note in found.notes)


def test_a_code_that_is_also_a_category_is_the_code_where_nothing_was_changed():
    data = {"icd": ["E11", "E11.9", "E11.6", "I10"]}
    kinds = {"icd": {"kind": "prefix", "keep": [3]}}
    found = shoal.attack(data, data, quasi="icd", hierarchies=kinds, in_order=True, attacks="linkage").of("linkage")
    assert found.success.value == 1.0


def test_records_that_say_nothing_do_not_hide_the_others():
    """Fifty people of each age have one illness; some records are suppressed, and kept in the release."""
    ages = np.repeat(np.arange(20, 40), 50)
    data = {"age": ages, "dx": [f"d{age}" for age in ages]}
    hidden = np.random.default_rng(4).random(len(ages)) < 0.1
    release = {"age": np.where(hidden, "*", ages.astype(str)), "dx": data["dx"]}
    given = {"quasi": ["age"], "sensitive": ["dx"], "in_order": True}
    found = shoal.attack(data, release, attacks=["homogeneity", "linkage"], **given)
    assert found.of("homogeneity").success.value == 1.0  # also of those whose own record is suppressed
    assert found.of("linkage").success.value == pytest.approx((~hidden).sum() / 45 / 1000, rel=0.05)


def test_of_several_records_the_one_that_says_most_is_taken():
    """Everybody is unique by age; of a third, only the decade is shown."""
    ages = np.arange(20, 80)
    wide = ages % 3 == 0
    release = {
        "age": [
            f"{age // 10 * 10}-{age // 10 * 10 + 9}" if loose else str(age)
            for age, loose in zip(ages, wide, strict=True)
        ]
    }
    found = shoal.attack({"age": ages}, release, quasi="age", in_order=True, attacks="linkage").of("linkage")
    assert found.persons[~wide].tolist() == [1.0] * 40
    assert (found.persons[wide] < 1).all()


# ---- which record is which


def test_records_are_matched_wherever_they_can_be():
    """There is a way to match all four, though not the first that comes to mind."""
    data = {"a": ["2", "2", "1", "2"], "b": ["2"] * 4}
    release = {"a": ["1", "2", "2", "*"], "b": ["*", "2", "*", "2"]}
    found = shoal.attack(data, release, quasi=["a", "b"], attacks="linkage")
    assert "4 of 4" in found.notes[0]
    assert found.of("linkage").details["no_candidate"] == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_release_in_another_order_is_as_safe(seed):
    data = people(300, seed)
    hidden = np.random.default_rng(seed).random((3, 300)) < 0.3
    cells = {
        name: np.where(lost, "*", np.asarray(data[name]).astype(str))
        for name, lost in zip(KNOWN["quasi"], hidden, strict=True)
    }
    release = {**data, **cells}
    kept = shoal.attack(data, release, in_order=True, attacks="linkage", **KNOWN).of("linkage").success.value
    mixed = shoal.attack(data, shuffled(release, seed), attacks="linkage", **KNOWN)
    assert "300 of 300" in mixed.notes[0]
    assert mixed.of("linkage").success.value == pytest.approx(kept, rel=0.35)


def test_a_made_up_release_belongs_to_nobody():
    data = {**people(400, 5), "lab": np.random.default_rng(5).normal(size=400).round(2)}
    made_up = {
        name: np.random.default_rng(place).permutation(cells) for place, (name, cells) in enumerate(data.items())
    }
    before = shoal.read(data).assign(**KNOWN)
    assert match(before, shoal.read(made_up)).rows is None
    found = shoal.attack(data, made_up, **KNOWN)
    assert {"linkage", "distance-linkage", "probabilistic-linkage"} <= set(found.left_out)


def test_who_is_not_released_is_not_found_by_chance_either():
    data = {**people(1000, 31), "id": np.arange(1000)}
    few = {name: cells[:10] for name, cells in data.items()}
    names = ["linkage", "distance-linkage", "probabilistic-linkage"]
    found = shoal.attack(data, few, key="id", attacks=names, **KNOWN)
    assert found.of("linkage").success.value <= 0.01
    for name in names:
        assert found.of(name).baseline == pytest.approx(0.01 / 10)
    with pytest.raises(RecodingError, match="has a key"):
        shoal.attack(data, {**data, "id": data["id"] + 5000}, key="id", attacks="linkage", **KNOWN)


def test_an_interval_in_which_nobody_is_holds_nobody():
    data = people(40, 32)
    release = {**data, "age": ["0-1"] * 20 + ["20-79"] * 20}
    found = shoal.attack(data, release, in_order=True, attacks="linkage", **KNOWN)
    assert found.of("linkage").persons[:20].tolist() == [0.0] * 20
    assert not any("could not be understood" in note for note in found.notes)


def test_the_core_and_its_twin_attack_alike():
    data = people(120, 6)
    release = {**data, "age": ["20-49" if age < 50 else "50-79" for age in data["age"]]}
    given = {**KNOWN, "outsiders": people(80, 7), "also": data, "seed": 3}
    results = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found = shoal.attack(data, shuffled(release, 8), **given)
        results.append([(one.title, one.success, one.baseline, one.control) for one in found.results])
    assert results[0] == results[1]


# ---- registers


def test_a_register_with_nothing_but_what_is_generally_known():
    data = {"age": [30, 30, 40, 40]}
    found = shoal.attack(data, data, quasi="age", external=data, in_order=True, attacks="linkage")
    assert found.of("linkage", variant="register").success.value == 0.5
    assert found.of("linkage", variant="register").details["in_register"] == 1.0


def test_a_register_of_the_whole_town():
    everybody = people(1000, 9)
    data = {name: cells[:200] for name, cells in everybody.items()}
    found = shoal.attack(data, data, external=everybody, in_order=True, attacks="linkage", **KNOWN)
    alike = shoal.read(everybody).distinct(KNOWN["quasi"])
    expected = (1 / alike.counts[alike.origin][:200]).mean()
    assert found.of("linkage", variant="register").success.value == pytest.approx(expected)


def test_people_who_stand_twice_in_a_register():
    data = {"id": [*"abcd"], "age": [30, 30, 40, 50]}
    twice = {name: [*cells, *cells] for name, cells in data.items()}
    given = {"quasi": ["age"], "in_order": True, "attacks": "linkage"}
    found = shoal.attack(data, {"age": data["age"]}, external=twice, key="id", **given)
    assert found.of("linkage", variant="register").persons.tolist() == [0.5, 0.5, 1.0, 1.0]


def test_people_who_stand_twice_by_name():
    data = {**people(100, 33), "name": [f"n{number}" for number in range(100)]}
    table = shoal.read(data).assign(direct="name", **KNOWN)
    once = {name: data[name] for name in ("name", "age", "sex", "town")}
    twice = {name: np.concatenate([cells, cells]) for name, cells in once.items()}
    results = [
        shoal.attack(table, data, external=register, in_order=True, attacks="linkage").of("linkage", variant="register")
        for register in (once, twice)
    ]
    assert results[0].success == results[1].success
    assert results[0].baseline == results[1].baseline == 0.01


def test_what_a_register_does_not_say_may_be_anything():
    data = {"id": [*"abcd"], "age": [30, 31, 40, 50]}
    register = {"id": [*"abcd"], "age": [30, None, 40, 50]}
    given = {"quasi": ["age"], "in_order": True, "attacks": "linkage"}
    found = shoal.attack(data, {"age": data["age"]}, external=register, key="id", **given)
    assert found.of("linkage", variant="register").persons.tolist() == [0.5, 1.0, 0.5, 0.5]


def test_gaps_in_the_data_do_not_hide_people_from_a_register():
    """Names are not unique, some towns are missing in the data, and yet everybody is found who is alone."""
    seeded = np.random.default_rng(30)
    town = {
        "name": [f"n{number}" for number in seeded.integers(0, 20, 600)],
        "birth": seeded.permutation(600),
        "town": seeded.choice(["a", "b", "c"], 600),
    }
    data = {name: cells[:200] for name, cells in town.items()}
    data["town"] = [None if place % 3 == 0 else cell for place, cell in enumerate(data["town"])]
    table = shoal.read(data).assign(direct="name", quasi=["birth", "town"])
    release = {name: data[name] for name in ("birth", "town")}
    found = shoal.attack(table, release, external=town, in_order=True, attacks="linkage")
    assert found.of("linkage", variant="register").success.value == 1.0


def test_a_register_that_cannot_be_linked_is_told():
    data = people(40, 10)
    other = {**data, "sex": ["female" if sex == "f" else "male" for sex in data["sex"]]}
    notes = shoal.attack(data, data, external=other, in_order=True, attacks="linkage", **KNOWN).notes
    assert any("No value of the register occurs in the data: 'sex'" in note for note in notes)
    notes = shoal.attack(data, data, external={"name": ["x"]}, in_order=True, attacks="linkage", **KNOWN).notes
    assert any("none of the quasi-identifiers" in note for note in notes)


# ---- baselines and controls


def test_the_original_lets_people_be_singled_out():
    data = people(500, 11)
    found = next(SinglingOut().run(Scene.of(shoal.read(data).assign(**KNOWN), shoal.read(data))))
    assert found.success.value == 1.0
    assert found.baseline < 0.5
    assert found.lift > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_a_release_that_was_made_up_singles_nobody_out(seed):
    """Descriptions that fit one record of it fit one person as often as those of shuffled columns do."""
    data, made_up = people(400, 40 + seed), people(400, 50 + seed)
    scene = Scene.of(shoal.read(data).assign(**KNOWN), shoal.read(made_up))
    found = next(SinglingOut().run(scene))
    assert found.baseline > 0.1
    assert found.success.low - 0.03 < found.baseline < found.success.high + 0.03


def test_the_control_of_singling_out_does_not_hang_on_how_many_strangers_there_are():
    def many(seed):
        seeded = np.random.default_rng(seed)
        return {**people(2000, seed), **{f"c{place}": seeded.integers(0, 6, 2000).astype(str) for place in range(4)}}

    data, others = many(12), many(13)
    before = shoal.read(data).assign(quasi=[name for name in data if name != "dx"], sensitive=["dx"])
    controls = []
    for number in (2000, 400):
        some = shoal.read({name: cells[:number] for name, cells in others.items()})
        result = next(SinglingOut(columns=5).run(Scene.of(before, shoal.read(data), outsiders=some)))
        controls.append(result.control.value)
    assert result.details["fit_one_record"] == 1000
    assert controls[0] > 0.1
    assert controls[1] == pytest.approx(controls[0], abs=0.03)


def test_no_stranger_can_be_linked_rightly():
    data = people(100, 14)
    found = shoal.attack(data, data, outsiders=people(100, 15), in_order=True, attacks="linkage", **KNOWN).of("linkage")
    assert found.control is None
    assert found.risk is None
    assert 0 < found.details["sure_of_strangers"] < 1


def test_strangers_without_a_value_are_not_tried():
    data = {"age": [30, 40] * 50, "dx": ["flu", "ms"] * 50}
    others = {"age": [30, 40] * 50, "dx": ["flu", None] * 50}
    found = shoal.attack(data, data, quasi="age", sensitive="dx", outsiders=others, attacks="homogeneity")
    assert found.of("homogeneity").control.value == 1.0


def test_a_number_that_nothing_tells_is_guessed_as_well_without_the_release():
    seeded = np.random.default_rng(16)
    cost = np.where(seeded.random(2000) < 0.5, seeded.normal(1000, 15, 2000), seeded.uniform(1, 5000, 2000)).round(3)
    data = {"age": seeded.integers(20, 80, 2000), "cost": cost}
    release = {"age": ["*"] * 2000, "cost": seeded.permutation(cost)}
    found = shoal.attack(data, release, quasi="age", sensitive="cost", attacks="inference").of("inference")
    assert found.baseline > 0.5
    assert found.success.value < found.baseline


def test_many_values_are_learned_and_rare_ones_not_claimed():
    """Two in five have the illness of their occupation, of forty."""
    seeded = np.random.default_rng(17)
    job = seeded.integers(0, 40, 4000)
    dx = np.where(seeded.random(4000) < 0.4, job, seeded.integers(0, 40, 4000))
    data = {"job": [f"j{one:02}" for one in job], "dx": [f"d{one:02}" for one in dx]}
    found = shoal.attack(data, data, quasi="job", sensitive="dx", attacks="attribute-inference")
    assert found.of("attribute-inference").success.value == pytest.approx(0.41, abs=0.03)
    assert found.of("attribute-inference").baseline < 0.04


def test_a_release_of_one_value_tells_it_of_those_who_have_it():
    data = {"age": [30, 40, 50], "dx": ["flu", "ms", "gout"]}
    found = shoal.attack(data, {"age": [30], "dx": ["flu"]}, quasi="age", sensitive="dx", attacks="homogeneity")
    assert found.of("homogeneity").baseline == pytest.approx(1 / 3)


def test_the_interval_of_a_share_holds_the_share():
    for number in (3, 200, 366, 1000):
        assert Estimate.share(0.0, number).low == 0.0
        assert Estimate.share(1.0, number).high == 1.0


# ---- single attacks


def test_who_is_in_an_interval_is_likelier_a_member():
    inside = {"age": [20, 40] * 10 + [60, 100] * 10}
    release = {"age": ["20-40"] * 20 + ["60-100"] * 20}
    scene = Scene.of(
        shoal.read(inside).assign(quasi="age"), shoal.read(release), outsiders=shoal.read({"age": [45, 46] * 10})
    )
    assert next(Membership().run(scene)).success.value == 1.0


def test_suppressed_cells_do_not_lead_astray_who_weighs():
    data = people(400, 18)
    hidden = np.random.default_rng(18).random((3, 400)) < 0.3
    cells = {
        name: np.where(lost, "*", np.asarray(data[name]).astype(str))
        for name, lost in zip(KNOWN["quasi"], hidden, strict=True)
    }
    found = shoal.attack(
        data,
        {**data, **cells},
        in_order=True,
        attacks=["linkage", "probabilistic-linkage", "distance-linkage"],
        **KNOWN,
    )
    plain = found.of("linkage").success.value
    assert found.of("probabilistic-linkage").success.value > 0.8 * plain
    assert found.of("distance-linkage").success.value > 0.6 * plain  # to which sex tells as much as age


def test_inside_wide_intervals_the_value_is_inferred():
    """Two intervals tell the illness, though the middle of one is nearer to many who are in the other."""
    ages = np.concatenate([np.arange(30, 70), np.arange(70, 75)])
    data = {"age": np.tile(ages, 10), "dx": np.tile(np.where(ages < 70, "flu", "ms"), 10)}
    release = {"age": np.where(data["age"] < 70, "30-69", "70-74"), "dx": data["dx"]}
    given = {"quasi": "age", "sensitive": "dx", "in_order": True}
    found = shoal.attack(data, release, attacks=["inference", "attribute-inference"], **given)
    assert found.of("inference").success.value == 1.0
    assert found.of("attribute-inference").success.value > 0.97


def test_events_that_were_left_out_do_not_hide_the_others():
    seeded = np.random.default_rng(19)
    data = {"who": np.repeat([f"p{number}" for number in range(100)], 6), "day": seeded.integers(0, 200, 600)}
    kept = seeded.random(600) < 0.7
    release = {name: cells[kept] for name, cells in data.items()}
    found = shoal.attack(data, release, quasi="day", subject="who", attacks="events").of("events")
    values = [point.success.value for point in found.curve]
    assert values[-1] > values[0]
    assert values[-1] > 0.8


def test_skewness_similarity_and_linkability_of_a_small_table():
    data = {"age": [31, 34, 71, 78], "sex": ["f", "m", "f", "m"], "hiv": ["no", "yes", "no", "no"]}
    release = {**data, "age": ["30-39", "30-39", "70-79", "70-79"], "sex": ["*"] * 4}
    given = {"quasi": ["age", "sex"], "sensitive": "hiv", "in_order": True}
    found = shoal.attack(data, release, attacks=["skewness", "linkability"], **given)
    assert found.of("skewness").details["largest"] == pytest.approx(2.0)
    assert found.of("skewness").persons.tolist() == [0.0, 1.0, 0.0, 0.0]
    # one party knows age and illness, the other the sex, which shows nothing: any of four
    assert found.of("linkability").success.value == pytest.approx(0.25)


# ---- what is asked for


def test_what_cannot_be_attacked_is_refused():
    data = people(20, 20)
    empty = shoal.read({name: cells[:0] for name, cells in data.items()})
    for given in ((empty, data), (data, empty)):
        with pytest.raises(AttackError, match="has no records"):
            shoal.attack(*given, **KNOWN)
    with pytest.raises(AttackError, match="register has no records"):
        shoal.attack(data, data, external=empty, **KNOWN)
    with pytest.raises(ColumnError):
        shoal.attack(data, data, key="nope", **KNOWN)
    with pytest.raises(AttackError, match="only the original has"):
        shoal.attack(data, {name: data[name] for name in ("age", "sex", "dx")}, key="town", **KNOWN)
    with pytest.raises(AttackError, match="No attack"):
        shoal.attack(data, data, attacks=[], **KNOWN)
    with pytest.raises(AttackError, match="by name"):
        shoal.attack(data, data, attacks=[3], **KNOWN)
    assert shoal.attack(data, data, attacks=Linkage, **KNOWN).of("linkage")
    assert shoal.attack(data, data, attacks=[Linkage(typos=0.1)], **KNOWN).of("linkage", variant="with errors")


def test_what_a_reader_should_know():
    data = {**people(60, 21), "name": [f"n{number}" for number in range(60)]}
    table = shoal.read(data).assign(direct="name", **KNOWN)
    lacking = {name: data[name] for name in ("age", "sex", "dx", "name")}
    notes = shoal.attack(table, lacking, outsiders=data, in_order=True, attacks="linkage").notes
    assert any("not used to find records: 'town'" in note for note in notes)
    assert any("direct identifiers: 'name'" in note for note in notes)
    assert any("100% of the control group equal an individual" in note for note in notes)
    few = {"age": data["age"]}
    notes = shoal.attack(table, data, outsiders=few, in_order=True, attacks="linkage").notes
    assert any("some attacks have no control" in note and "town" in note for note in notes)


def test_why_an_attack_is_left_out_is_always_told_alike():
    data = people(30, 22)
    found = shoal.attack(data, data, quasi=KNOWN["quasi"], in_order=True)
    assert found.left_out["composition"] == "It requires another release of the same individuals."
    single = shoal.attack({"age": data["age"]}, {"age": data["age"]}, quasi="age", in_order=True)
    assert "linkability" in single.left_out


@pytest.mark.parametrize("name", [kind.name for kind in ATTACKS.values() if kind.default])
def test_a_release_of_one_record_breaks_nothing(name):
    data = people(30, 23)
    one = {column: cells[:1] for column, cells in data.items()}
    found = shoal.attack(data, one, outsiders=people(30, 24), also=one, attacks=name, **KNOWN)
    for result in found.results:
        assert 0 <= result.success.low <= result.success.value <= result.success.high <= 1
        assert 0 <= result.baseline <= 1


def test_columns_that_are_gone_are_reconstructed():
    seeded = np.random.default_rng(25)
    sex = seeded.choice(["f", "m"], 600)
    data = {
        "sex": sex,
        "coin": seeded.choice(["a", "b"], 600),
        "height": np.where(sex == "f", 165, 180) + seeded.normal(0, 5, 600),
    }
    found = shoal.attack(data, {"height": data["height"]}, quasi=["sex", "coin"], in_order=True)
    assert found.of("reconstruction", "sex").success.low > 0.85
    assert found.of("reconstruction", "sex").details["by"].keys() == {"height"}
    assert found.of("reconstruction", "coin").covers_baseline
    assert "linkage" in found.left_out


def test_fifths_are_guessed_in_one_of_five():
    seeded = np.random.default_rng(34)
    data = {"age": seeded.permutation(500), "x": seeded.normal(size=500)}
    found = shoal.attack(data, data, quasi="age", in_order=True, attacks="reconstruction").of("reconstruction")
    assert found.baseline == pytest.approx(0.2)


def test_the_two_linkages_are_told_apart(tmp_path):
    data = people(80, 26)
    for name, cells in (("original.csv", data), ("release.csv", {**data, "town": ["*"] * 80})):
        shoal.write(shoal.read(cells), tmp_path / name)
    asked = ("attack", "original.csv", "release.csv", "--quasi", "age,sex,town", "--sensitive", "dx", "--in-order")
    done = run(*asked, "--external", "original.csv", "--pictures", "drawn", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("linkage:", "linkage (register):", "linkage (with errors):", "linkage (register, with errors):"):
        assert f"  {name}" in done.stdout
    drawn = {path.name for path in (tmp_path / "drawn").iterdir()}
    assert {"attacks.svg", "wp216.svg", "linkage.svg", "linkage-with-errors.svg"} <= drawn
    plain = json.loads(run(*asked, "--json", "--only", "linkage", cwd=tmp_path).stdout)
    assert [one["variant"] for one in plain["result"]["attacks"]] == [""]


# ---- what a review found


@pytest.mark.parametrize("size", [254, 255, 256])
def test_what_a_register_does_not_say_is_not_the_first_value(size):
    """Where a column has just as many codes as a byte has numbers."""
    names = [f"p{number}" for number in range(size)]
    data = {"id": names, "age": [*range(size)], "sex": ["f"] * size}
    register = {**data, "age": [None if number > size // 2 else number for number in range(size)]}
    table = shoal.read(data).assign(direct="id", quasi=["age", "sex"])
    release = {"age": data["age"], "sex": data["sex"]}
    found = shoal.attack(table, release, external=register, in_order=True, attacks="linkage")
    unsaid = size - size // 2 - 1  # each of these may be anybody's, so every record has so many candidates, or one more
    expected = (size // 2 + 1) / (unsaid + 1) / size + unsaid / unsaid / size
    assert found.of("linkage", variant="register").success.value == pytest.approx(expected)


def test_a_second_release_that_nothing_is_known_by():
    data = {"age": [31, 34, 71, 78] * 10, "dx": ["flu", "ms", "flu", "gout"] * 10}
    with pytest.raises(shoal.errors.AttackError, match="The other release has none of the quasi-identifiers"):
        shoal.attack(data, data, quasi="age", sensitive="dx", also={"dx": data["dx"]}, attacks="composition")


def test_values_stay_as_they_are_written_whatever_strangers_have():
    """Strangers with half days make a column one of fractions; its hierarchy and its words go on."""
    data = {"age": [31, 34, 71, 75], "los": [1, 2, 30, 40]}
    release = {"age": ["30-39"] * 2 + ["70-79"] * 2, "los": data["los"]}
    ladder = {"los": {"kind": "interval", "widths": [10, 100]}}
    for strangers in ({"age": [30, 31], "los": [1, 2]}, {"age": [30, 31], "los": [1.5, 2]}):
        given = {"quasi": "age", "sensitive": "los", "outsiders": strangers, "hierarchies": ladder}
        found = shoal.attack(data, release, attacks=["similarity"], **given).of("similarity")
        assert [point.success.value for point in found.curve] == [0.0, 0.5, 1.0]
        ruled = shoal.attack(data, release, attacks=[BackgroundKnowledge(rule_out=["1"], excluded=0)], **given)
        assert ruled.of("background-knowledge").persons.tolist() == [0.0, 1.0, 0.5, 0.5]


def test_dates_are_inferred_by_days_and_not_by_years_since_1970():
    seeded = np.random.default_rng(60)
    for year in ("1970", "2019"):
        days = np.datetime64(f"{year}-01-01") + seeded.integers(0, 700, 400)
        data = {"age": seeded.integers(20, 80, 400), "seen": days}
        release = {"age": ["*"] * 400, "seen": seeded.permutation(days)}
        found = shoal.attack(data, release, quasi="age", sensitive="seen", attacks="inference").of("inference")
        assert 0.05 < found.success.value < 0.15
        assert 0.08 < found.baseline < 0.2


def test_the_rank_of_the_nearest_of_several_own_records():
    """Ten records are equally near, two of them the person's: five of ten miss both with C(8, 5) / C(10, 5)."""
    data = {"who": ["a", "a", *"bcdefghi"], "age": [30] * 10}
    found = shoal.attack(data, data, quasi="age", subject="who", in_order=True, attacks="distance-linkage")
    result = found.of("distance-linkage")
    both, one = 1 - 56 / 252, 0.5
    at_five = next(point for point in result.curve if point.at == 5)
    assert at_five.success.value == pytest.approx((both + 8 * one) / 9)
    assert result.success.value == pytest.approx((0.2 + 8 * 0.1) / 9)


def test_who_has_learned_nothing_is_not_sure():
    seeded = np.random.default_rng(61)
    data = {"sex": seeded.choice(["f", "m"], 1000, p=[0.6, 0.4]), "lab": seeded.normal(size=1000)}
    attack = Reconstruction(models=["linear"])
    found = shoal.attack(data, data, quasi="sex", in_order=True, attacks=attack).of("reconstruction")
    assert found.details["model"] == "majority"
    assert found.details["sure_and_right"] == 0.0


def test_who_has_no_name_is_nobody():
    data = shoal.read({"name": ["Ann", "Bob", None], "age": [30, 40, 50]}).assign(direct="name", quasi="age")
    register = shoal.read({"name": [None, None, "Ann", "Bob"], "age": [1, 2, 30, 40]})
    assert in_register(data, register, ["name"]).tolist() == [-1, -1, 0, 1]


def test_numbers_of_persons_that_were_dealt_out_anew():
    data = {
        "who": np.repeat(np.arange(100), 2),
        **{name: np.repeat(cells, 2) for name, cells in people(100, 62).items()},
    }
    renumbered = {**data, "who": np.random.default_rng(62).permutation(100)[data["who"]]}
    found = shoal.attack(data, renumbered, subject="who", attacks=["linkage", "events"], **KNOWN)
    assert "200 of 200" in found.notes[0]
    assert found.of("linkage").success.value > 0.5


def test_intervals_with_one_person_each_are_intervals_still():
    ages = [31, 45, 58, 62, 71]
    release = {"age": [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in ages]}
    scene = Scene.of(shoal.read({"age": ages}).assign(quasi="age"), shoal.read(release))
    assert next(SinglingOut().run(scene)).success.value == 1.0


def test_strangers_with_several_records_are_one_person_each():
    data, others = visits(100, 2), visits(50, 2, seed=1)
    found = shoal.attack(data, data, quasi=["age", "sex"], subject="who", outsiders=others, attacks="membership")
    assert found.of("membership").targets == 150
    nobody = {"age": [None] * 20, "sex": ["f"] * 20, "height": [170.0] * 20}
    tall = {"age": [30, 40] * 50, "sex": ["f", "m"] * 50, "height": [160.0, 180.0] * 50}
    found = shoal.attack(tall, tall, quasi=["age", "sex"], outsiders=nobody, in_order=True, attacks="reconstruction")
    assert found.of("reconstruction", "age").control is None


def test_many_people_who_cannot_be_matched_take_no_time():
    """A few values were changed, so many search in vain; what one has found to lead nowhere the next leaves out."""
    seeded = np.random.default_rng(63)
    data = {f"c{place}": seeded.choice(list("abcde"), 5000) for place in range(7)}
    changed = {}
    for name, cells in data.items():
        swapped = np.where(seeded.random(5000) < 0.03, seeded.permutation(cells), cells)
        changed[name] = np.where(seeded.random(5000) < 0.25, "*", swapped)
    content = Content.of(shoal.read(data).assign(quasi=list(data)), shoal.read(changed), {})
    assert content.matched() is None


def test_a_position_that_the_content_contradicts_is_reported():
    data = people(200, 31)
    order = np.argsort(data["age"], kind="stable")
    moved = {name: cells[order] for name, cells in data.items()}
    notes = shoal.attack(data, moved, in_order=True, attacks="linkage", **KNOWN).notes
    assert any("which their content contradicts" in note for note in notes)
    assert not any("contradicts" in note for note in shoal.attack(data, data, in_order=True, **KNOWN).notes)
    with pytest.raises(AttackError, match="by a key or by position"):
        shoal.attack(data | {"id": np.arange(200)}, data | {"id": np.arange(200)}, key="id", in_order=True, **KNOWN)


def test_ruling_out_all_wrong_values_is_no_attack():
    """With two values, an adversary who rules out the wrong one needs no release."""
    data = {**people(60, 21), "dx": ["flu", "ms"] * 30}
    found = shoal.attack(data, data, in_order=True, attacks="background-knowledge", **KNOWN)
    assert "background-knowledge" in found.left_out


def test_records_without_a_value_answer_no_question():
    """The nearest record with a value is used; one without a value is no wrong answer."""
    data = {"age": [*range(40)], "dx": ["ms"] * 40}
    released = {"age": [*range(40)], "dx": [None if age % 2 else "ms" for age in range(40)]}
    found = shoal.attack(data, released, in_order=True, attacks="inference", quasi="age", sensitive="dx")
    assert found.of("inference").success.value == 1
