"""Analyses before and after: against published values, other implementations' answers, and plain sense."""

import numpy as np
import pytest

import shoal
from shoal.analyses.area import area_under_curve
from shoal.analyses.estimate import Estimate, over_persons
from shoal.analyses.regression import linear_fit, logistic_fit, sandwich
from shoal.analyses.survival import cox_fit, kaplan_meier
from shoal.analyses.task import folds_of
from shoal.errors import RecodingError

# Freireich 1963: weeks of remission, + censored; 6-MP and placebo.
TREATED = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+".split()
PLACEBO = "1 1 2 2 3 4 4 5 5 8 8 8 8 11 11 12 12 15 17 22 23".split()
WEEKS = np.array([float(one.rstrip("+")) for one in TREATED + PLACEBO])
RELAPSED = np.array([not one.endswith("+") for one in TREATED + PLACEBO]).astype(int)
GROUP = np.array([0.0] * 21 + [1.0] * 21)


def test_cox_with_ties():
    """Efron's ties on Freireich's data: R's coxph and lifelines say 1.5721 (0.4124)."""
    values, errors = cox_fit(GROUP[:, None], WEEKS, RELAPSED)
    assert values == pytest.approx([1.572125], abs=1e-6)
    assert errors == pytest.approx([0.412397], abs=1e-6)


def test_cox_maximises_the_partial_likelihood():
    """Without ties, against the likelihood itself."""
    rng = np.random.default_rng(0)
    design = rng.normal(size=(60, 2))
    times = rng.permutation(60) + rng.random(60)
    events = rng.integers(0, 2, 60)

    def likelihood(values):
        linear = design @ values
        return sum(linear[i] - np.log(np.exp(linear[times >= times[i]]).sum()) for i in np.flatnonzero(events))

    values, _ = cox_fit(design, times, events)
    for step in np.vstack([np.eye(2), -np.eye(2)]) * 1e-3:
        assert likelihood(values) > likelihood(values + step)


def test_cox_with_a_few_very_large_values():
    """Plain Newton steps overshoot for a skewed column, and would find no solution."""
    rng = np.random.default_rng(4)
    skewed = np.exp(rng.normal(0.5, 1.5, 300))
    times = rng.exponential(1 / np.exp(0.1 * np.minimum(skewed, 30)))
    values, _ = cox_fit(skewed[:, None], times, np.ones(300, int))

    def likelihood(value):
        linear = skewed * value
        return sum(linear[i] - np.log(np.exp(linear[times >= times[i]]).sum()) for i in range(300))

    assert likelihood(values[0]) > max(likelihood(values[0] - 1e-3), likelihood(values[0] + 1e-3))


def test_the_event_is_named_by_its_value():
    data = {"days": [1, 2, 3, 4, 5, 6], "status": [0, 1, 2, 2, 1, 0], "visit": [1, 1, 1, 2, 2, 2]}
    found = shoal.compare(data, data, quasi=["days"])
    with pytest.raises(shoal.errors.RecodingError, match="'status' has 3 values") as failure:
        found.survival("days", "status")
    assert "as COLUMN=VALUE" in str(failure.value)
    (curves,) = found.survival("days", "status=2")
    assert curves.before.shares.tolist() == pytest.approx([3 / 4, 3 / 4 * 2 / 3])
    (first,) = found.where("visit=1").survival("days", "status=2")
    assert (first.before.records, first.before.shares.tolist()) == (3, [0.0])
    with pytest.raises(shoal.errors.RecodingError, match="does not contain the value"):
        found.survival("days", "status=7")
    with pytest.raises(shoal.errors.RecodingError, match="names a column and a value"):
        found.where("visit").survival("days", "status=2")


def test_cox_without_an_answer():
    assert cox_fit(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([4.0, 3, 2, 1]), np.array([0, 0, 1, 1])) is None
    assert cox_fit(np.ones((4, 1)), np.arange(4.0), np.ones(4, int)) is None


def test_kaplan_meier():
    """Freireich's treated group, with lifelines' intervals."""
    curve = kaplan_meier(WEEKS[:21], RELAPSED[:21].astype(float))
    assert curve.times.tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert curve.shares == pytest.approx(
        [0.857143, 0.806723, 0.752941, 0.690196, 0.627451, 0.537815, 0.448179], abs=1e-6
    )
    assert curve.low[[0, 1, -1]] == pytest.approx([0.619718, 0.563147, 0.188052], abs=1e-6)
    assert curve.high[[0, 1, -1]] == pytest.approx([0.951552, 0.922809, 0.680143], abs=1e-6)
    assert curve.median == 23


def test_logistic_and_linear_fits():
    """Statsmodels' answers on the same numbers; its clustered errors have a factor (n − 1) / (n − k) more."""
    rng = np.random.default_rng(0)
    n = 400
    design = np.column_stack([np.ones(n), rng.normal(size=n), rng.integers(0, 2, n)])
    rng.exponential(np.exp(-design[:, 1] * 0.5 - design[:, 2]))
    rng.integers(0, 2, n)
    truth = (rng.random(n) < 1 / (1 + np.exp(-(0.3 + design[:, 1] - design[:, 2])))).astype(float)
    persons = rng.integers(0, 100, n)
    values, scores, bread = logistic_fit(design, truth)
    assert values == pytest.approx([0.30643834, 0.90084054, -0.9277943], abs=1e-7)
    small = np.sqrt((n - 1) / (n - 3))
    errors = np.sqrt(np.diag(sandwich(scores, bread, persons)))
    assert errors * small == pytest.approx([0.14682023, 0.15567956, 0.21589267], abs=1e-7)
    outcome = design @ [1, 2, 3] + rng.normal(size=n)
    values, scores, bread = linear_fit(design, outcome)
    assert values == pytest.approx([0.95694034, 2.00622235, 2.97000077], abs=1e-7)
    errors = np.sqrt(np.diag(sandwich(scores, bread, persons)))
    assert errors * small == pytest.approx([0.06214217, 0.05149344, 0.09768842], abs=1e-7)


def test_separated_outcomes_have_no_answer():
    design = np.column_stack([np.ones(6), [0.0, 0, 0, 1, 1, 1]])
    assert logistic_fit(design, np.array([0.0, 0, 0, 1, 1, 1])) is None
    assert linear_fit(np.ones((5, 2)), np.arange(5.0)) is None


def test_intervals_over_persons():
    """Ten copies of each record of a person tell no more than one."""
    rng = np.random.default_rng(1)
    values = rng.random(50)
    once = over_persons(values, np.arange(50))
    copied = over_persons(np.repeat(values, 10), np.repeat(np.arange(50), 10))
    assert (copied.value, copied.low) == pytest.approx((once.value, once.low))
    assert once.high - once.value == pytest.approx(1.959964 * values.std(ddof=1) / np.sqrt(50))


def test_overlap_of_intervals():
    assert Estimate(0, -1, 1).overlap(Estimate(0, -1, 1)) == 1
    assert Estimate(0, -1, 1).overlap(Estimate(5, 4, 6)) < 0


def test_auc_counts_ties_half():
    scores, truth = np.array([0.1, 0.4, 0.4, 0.8]), np.array([0.0, 0, 1, 1])
    assert area_under_curve(scores, truth == 1).value == pytest.approx((1 + 0.5 + 1 + 1) / 4)


def test_the_interval_of_an_area_is_that_of_delong():
    rng = np.random.default_rng(5)
    positive = rng.random(60) < 0.4
    scores = np.round(rng.normal(positive * 0.8, 1), 1)
    found = area_under_curve(scores, positive)
    x, y = scores[positive], scores[~positive]
    wins = (x[:, None] > y) + (x[:, None] == y) / 2  # every pair
    error = np.sqrt(wins.mean(axis=1).var(ddof=1) / len(x) + wins.mean(axis=0).var(ddof=1) / len(y))
    assert (found.value, found.high - found.value) == pytest.approx((wins.mean(), 1.959964 * error), rel=1e-6)


def test_only_records_of_one_stratum_are_compared():
    """Perfect in each of two folds, though the scores of one are all above those of the other."""
    scores, positive = np.array([1.0, 2.0, 3.0, 4.0, 11.0, 12.0]), np.array([False, False, True, True, False, True])
    fold = np.array([0, 0, 0, 0, 1, 1])
    assert area_under_curve(scores, positive, strata=fold).value == 1.0
    assert area_under_curve(scores, positive).value == pytest.approx(7 / 9)
    one_sided = area_under_curve(scores, positive, strata=np.arange(6))
    assert one_sided == Estimate(0.5, 0.0, 1.0)


def test_copies_of_records_make_an_area_no_surer():
    rng = np.random.default_rng(6)
    positive = np.arange(200) % 2 == 0
    scores = rng.normal(positive, 1)
    once, taken_apart = area_under_curve(scores, positive), np.repeat(np.arange(200), 5)
    copied = area_under_curve(scores[taken_apart], positive[taken_apart], taken_apart)
    assert (copied.value, copied.low) == pytest.approx((once.value, once.low))


def test_an_area_of_one_kind_only_says_nothing():
    assert area_under_curve(np.array([1.0, 2.0]), np.array([True, True])) == Estimate(0.5, 0.0, 1.0)
    assert area_under_curve(np.array([1.0, 2.0, 3.0]), np.array([False, True, False])) == Estimate(0.5, 0.0, 1.0)


def test_folds_take_whole_persons_apart():
    persons = np.repeat(np.arange(30), 3)
    for train, test in folds_of(persons, 5, 0):
        assert not set(persons[train]) & set(persons[test])
    assert sorted(np.concatenate([test for _, test in folds_of(persons, 5, 0)])) == list(range(90))


# --- on releases --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(5)
    n = 1500
    age = rng.integers(20, 80, n)
    sex = rng.choice(["f", "m"], n)
    ill = (rng.random(n) < 1 / (1 + np.exp(-(age - 50) / 8 - (sex == "m")))).astype(int)
    days = np.ceil(rng.exponential(400 * np.exp(-(age - 50) / 20)))
    return {
        "id": list(range(n)),
        "age": age.tolist(),
        "sex": sex.tolist(),
        "ill": ill.tolist(),
        "days": days.tolist(),
        "died": rng.integers(0, 2, n).tolist(),
        "score": (age * 2.0 + rng.normal(size=n)).round(2).tolist(),
    }


def released(patients, width):
    return {**patients, "age": [f"{a // width * width}-{a // width * width + width - 1}" for a in patients["age"]]}


def test_an_unchanged_table_gives_the_same(patients):
    found = shoal.compare(patients, patients, quasi=["age", "sex"], key="id")
    learned = found.learning("ill", ["age", "sex"])
    assert learned.before == learned.after
    assert learned.difference == Estimate(0, 0, 0)
    assert learned.skill == 1
    assert learned.baseline < learned.before.value
    for made in (found.regression("ill", ["age", "sex"]), found.hazards("days", "died", ["age"])):
        assert made.overlap == 1
        assert all(one.same_conclusion for one in made.coefficients)
    assert all(one.largest_gap == 0 for one in found.survival("days", "died", by="sex"))


def test_a_coarse_table_keeps_some_and_an_empty_one_nothing(patients):
    coarse = shoal.compare(patients, released(patients, 20), quasi=["age", "sex"], key="id")
    learned = coarse.learning("ill", ["age", "sex"])
    assert 0.5 < learned.skill < 1.2
    gone = shoal.compare(
        patients, {**patients, "age": ["*"] * 1500, "sex": ["*"] * 1500}, quasi=["age", "sex"], key="id"
    )
    nothing = gone.learning("ill", ["age", "sex"])
    assert nothing.after.value == pytest.approx(nothing.baseline)
    assert nothing.skill == pytest.approx(0)
    assert gone.regression("ill", ["age"]).coefficients[1].after is None
    numbers = coarse.learning("score", ["age", "sex"])
    assert numbers.measure == "error"
    assert numbers.before.value < numbers.after.value < 1


def test_learning_is_reproducible(patients):
    found = shoal.compare(patients, released(patients, 10), quasi=["age", "sex"], key="id")
    assert found.learning("ill", ["age"], seed=3) == found.learning("ill", ["age"], seed=3)
    assert found.learning("ill", ["age"], model="linear").skill > 0.8


def test_middles_of_intervals_keep_coefficients(patients):
    found = shoal.compare(patients, released(patients, 5), quasi=["age", "sex"], key="id")
    made = found.regression("score", ["age", "sex"])
    assert made.kind == "linear"
    age = next(one for one in made.coefficients if one.term == "age")
    assert age.after.value == pytest.approx(2, abs=0.02)


def test_changed_values_are_taken_as_they_are_shown():
    """Swapped sexes are wrong, and so is what is learned from them."""
    sex = ["f", "m"] * 50
    before = {"id": list(range(100)), "sex": sex, "y": [1.0 if one == "m" else 0.0 for one in sex]}
    y = [value + place % 7 * 0.01 for place, value in enumerate(before["y"])]
    turned = {"id": before["id"], "sex": ["m", "f"] * 50, "y": y}
    found = shoal.compare({**before, "y": y}, turned, key="id", quasi=["sex"])
    coefficient = found.regression("y", ["sex"]).coefficients[1]
    assert coefficient.before.value == pytest.approx(-coefficient.after.value, abs=1e-9)


def test_a_set_counts_in_parts_for_its_categories():
    before, after = {"x": ["a", "b", "c"]}, {"x": ["{a, b}", "{a, b}", "c"]}
    features = shoal.compare(before, after).study().features(["x"])
    assert features.after.tolist() == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]]


def test_who_was_suppressed():
    before = {"id": list(range(200)), "sex": ["f"] * 100 + ["m"] * 100, "age": list(range(200))}
    kept = [*range(95), *range(100, 150)]
    found = shoal.compare(before, {"id": kept, "sex": [before["sex"][i] for i in kept]}, key="id", quasi=["sex"])
    first, second = found.subgroups("sex")
    assert (first.label, first.suppressed.value, first.differs) == ("m", 0.5, True)
    assert (second.share_before, second.share_after) == (0.5, pytest.approx(95 / 145))
    fifths = shoal.compare(before, {"id": kept, "age": kept}, key="id", quasi=["age"]).subgroups("age")
    assert sum(one.records for one in fifths) == 200
    assert len(fifths) == 5


def test_persons_stay_together(patients):
    """With several records of a person, folds and intervals are of persons."""
    doubled = {name: values * 2 for name, values in patients.items()}
    doubled["row"] = list(range(3000))
    found = shoal.compare(doubled, doubled, subject="id", key="row", quasi=["age", "sex"])
    single = shoal.compare(patients, patients, key="id", quasi=["age", "sex"])
    one, two = found.regression("ill", ["age"]), single.regression("ill", ["age"])
    assert one.coefficients[1].before.low == pytest.approx(two.coefficients[1].before.low, rel=1e-9)


def test_survival_needs_one_record_per_person():
    table = {"id": [1, 1, 2, 3], "row": [1, 2, 3, 4], "days": [1, 2, 3, 4], "died": [0, 1, 1, 0]}
    found = shoal.compare(table, table, subject="id", key="row", quasi=["days"])
    with pytest.raises(RecodingError, match="Survival analysis requires one record per individual,"):
        found.survival("days", "died")


def test_the_median_is_where_half_are_left():
    """Products of shares that are just one half come out above it in floating point."""
    curve = kaplan_meier(np.arange(1.0, 11), np.ones(10))
    assert curve.median == 5


def test_columns_far_from_zero():
    """Seconds since 1970 within some hours, say."""
    rng = np.random.default_rng(0)
    x = 1.7e9 + rng.integers(0, 10_000, 200)
    y = ((x - 1.7e9) / 1000 + rng.normal(size=200)).round(3)
    table = {"x": x.tolist(), "y": y.tolist()}
    slope = shoal.compare(table, table, quasi=["x"]).regression("y", ["x"]).coefficients[1]
    assert slope.before.value == pytest.approx(1e-3, rel=0.1)


def test_too_many_categories_to_learn():
    table = {"x": list(range(300)), "y": [f"c{n % 100}" for n in range(300)]}
    with pytest.raises(RecodingError, match="too many to predict"):
        shoal.compare(table, table, quasi=["x"]).learning("y")


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (lambda found: found.learning("nothing"), "not compared"),
        (lambda found: found.regression("sex", ["age"]), "there"),
        (lambda found: found.survival("sex", "ill"), "does not contain numbers"),
        (lambda found: found.survival("age", "days"), "An event or a binary outcome has two"),
    ],
)
def test_refused(patients, action, says):
    found = shoal.compare(patients, patients, key="id", quasi=["age", "sex"])
    if says == "there":
        assert action(found).kind == "logistic"
        return
    with pytest.raises(RecodingError, match=says):
        action(found)


def test_unmatched_records_cannot_be_analysed():
    found = shoal.compare({"x": [1, 1, 2]}, {"x": [1, 3]})
    with pytest.raises(RecodingError, match="The analysis requires matched records of the original"):
        found.subgroups("x")


def test_too_few():
    found = shoal.compare({"x": [1, 2, 3], "y": list("aab")}, {"x": [1, 2, 3], "y": list("aab")}, quasi=["x"])
    with pytest.raises(RecodingError, match="There are too few individuals to learn"):
        found.learning("y")


def test_what_a_prediction_hangs_on_comes_first():
    """The target is one column, a little of a second, and nothing of a third."""
    rng = np.random.default_rng(3)
    first, second, third = rng.normal(size=(3, 600))
    data = {"first": first, "second": second, "third": third, "y": np.where(first + 0.2 * second > 0, "a", "b")}
    found = shoal.compare(data, data).importances("y", model="linear")
    assert list(found)[:2] == ["first", "second"]
    assert found["first"].low > 0.3
    assert found["second"].low > 0
    assert found["third"].low <= 0 <= found["third"].high


def test_what_a_number_hangs_on():
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(2, 400))
    data = {"first": first, "second": second, "y": 3 * first}
    found = shoal.compare(data, data).importances("y", ["first", "second", "y"], model="linear")
    assert list(found) == ["first", "second"]
    assert found["first"].value == pytest.approx(np.sqrt(2), abs=0.15)  # two normal numbers differ by that much more
    assert abs(found["second"].value) < 0.01


def test_a_category_that_is_gone_does_not_take_the_others_with_it():
    """Nobody is shown as x any more: all else is estimated as if x had never been there."""
    rng = np.random.default_rng(0)
    data = {"sex": ["f"] * 40 + ["m"] * 40 + ["x"] * 2, "y": rng.normal(0, 1, 82), "days": rng.exponential(9, 82)}
    data["died"] = np.array([*rng.integers(0, 2, 80), 1, 0])
    found = shoal.compare(data, {**data, "sex": ["f"] * 40 + ["m"] * 40 + ["*"] * 2})
    rest = {name: held[:80] for name, held in data.items()}
    alone = shoal.compare(rest, rest)
    for made, known in (
        (found.regression("y", ["sex"]), alone.regression("y", ["sex"])),
        (found.hazards("days", "died", ["sex"]), alone.hazards("days", "died", ["sex"])),
    ):
        assert made.coefficients[-1].term == "sex=x"
        assert made.coefficients[-1].after is None
        for one, two in zip(made.coefficients, known.coefficients, strict=False):
            assert one.after.value == pytest.approx(two.before.value)
            assert one.after.low == pytest.approx(two.before.low)


def test_the_reference_may_be_gone():
    """Nobody is shown as f any more, the most frequent value: the others are compared among themselves."""
    rng = np.random.default_rng(1)
    data = {"sex": ["f"] * 60 + ["m"] * 40 + ["x"] * 30, "y": rng.normal(0, 1, 130)}
    found = shoal.compare(data, {**data, "sex": ["*"] * 60 + ["m"] * 40 + ["x"] * 30}).regression("y", ["sex"])
    terms = {one.term: one for one in found.coefficients}
    assert set(terms) == {"(intercept)", "sex=f", "sex=x"}
    assert terms["sex=f"].after is None
    means = np.mean(data["y"][60:100]), np.mean(data["y"][100:])
    assert terms["sex=x"].after.value == pytest.approx(means[1] - means[0])
    assert terms["sex=x"].before.value == pytest.approx(means[1] - means[0])
