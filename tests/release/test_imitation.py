"""Counterfeits keep the relations of the columns, and are not told from true records by them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.analyses.relations import Records
from shoal.release.drawing import drawn_numbers
from shoal.release.imitation import Imitation

POLICY = """
version = 1
[columns]
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 30] } }
sex = "quasi"
ward = "quasi"
%s
[draw]
key_file = "draw.key"
[[require]]
model = "k-anonymity"
k = 8
[search]
suppression = 0.9
outliers = "counterfeits"
levels = { age = [2, 2], sex = [0, 0], ward = [0, 0] }
"""
BESIDE = ("title", "weight", "height", "bmi", "iron", "zinc", "start", "days", "end", "code", "chapter")


def patients(number=400, seed=0):
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(0, 2, number), rng.integers(20, 90, number)
    weight, height = rng.normal(75, 12, number).round(1), rng.normal(170, 10, number).round().astype(int)
    start, days, code = rng.integers(10000, 19000, number), rng.integers(1, 40, number), rng.integers(0, 12, number)
    gap = rng.random(number) < 0.15
    return {
        "age": age,
        "ward": [f"w{ward}" for ward in rng.geometric(0.15, number)],
        "sex": [("f", "m")[one] for one in sex],
        "title": [("Ms", "Mr")[one] for one in sex],
        "weight": weight,
        "height": height,
        "bmi": (weight / (height / 100) ** 2).round(1),
        "iron": [
            None if none else round(float(one), 2) for none, one in zip(gap, rng.normal(15, 4, number), strict=True)
        ],
        "zinc": [
            None if none else round(float(one), 2) for none, one in zip(gap, rng.normal(12, 3, number), strict=True)
        ],
        "start": start,
        "days": days,
        "end": start + days,
        "code": [f"{'ABC'[one // 4]}{one}" for one in code],
        "chapter": ["ABC"[one // 4] for one in code],
    }


def released(tmp_path, data, beside=BESIDE, key="a secret key of many characters", more=""):
    (tmp_path / "draw.key").write_text(key)
    columns = "\n".join(f'{name} = "insensitive"' for name in beside)
    (tmp_path / "policy.toml").write_text(POLICY % columns + more)
    return shoal.anonymize(shoal.read(data), tmp_path / "policy.toml")


def of_table(table, names):
    return Records({name: table[name] for name in names}, {name: table.codes(name) for name in names})


def test_counterfeits_keep_every_relation_and_are_not_recognised(tmp_path):
    data = patients(1500)
    release = released(tmp_path, data)
    invented = release.records < 0
    assert invented.sum() > 30
    relations = of_table(shoal.read(data), BESIDE).relations()
    assert len(relations) >= 5
    places = of_table(release.table, BESIDE).places()
    for relation in relations:
        assert not relation.broken(places)[invented].any(), relation.columns
    result = shoal.attack(data, release, attacks="counterfeit-detection").results[0]
    assert result.details["recognised"] == 0
    assert result.details["individuals_left_in_smaller_classes"] == 0
    assert result.success.low < 0.5


def test_counterfeits_that_are_drawn_column_by_column_are_recognised(tmp_path):
    """The attack finds what it should: the same release with values that do not agree."""
    data = patients(1500)
    release = released(tmp_path, data)
    rows, invented = release.to_frame("pandas"), release.records < 0
    rng = np.random.default_rng(1)
    for name in BESIDE:
        rows.loc[invented, name] = rng.choice(rows.loc[~invented, name].to_numpy(), int(invented.sum()))
    rows["id"] = [f"r{record}" if record >= 0 else f"x{place}" for place, record in enumerate(release.records)]
    names = {**data, "id": [f"r{record}" for record in range(1500)]}
    given = {"quasi": ["age", "sex", "ward"], "attacks": "counterfeit-detection", "key": "id"}
    result = shoal.attack(names, rows, **given).results[0]
    assert result.details["recognised"] > 0.9
    assert result.details["falsely_recognised"] < 0.02
    assert result.details["individuals_left_in_smaller_classes"] > 0
    assert result.success.low > 0.95


def test_values_of_counterfeits_have_the_precision_of_the_column(tmp_path):
    data = patients()
    release = released(tmp_path, data)
    shown, invented = release.to_frame("pandas"), release.records < 0
    for name in ("weight", "bmi", "iron"):
        numbers = shown.loc[invented, name].dropna().astype(float)
        assert np.allclose(numbers, numbers.round(2 if name == "iron" else 1))
        assert numbers.between(np.nanmin(np.array(data[name], float)), np.nanmax(np.array(data[name], float))).all()


def test_numbers_that_hardly_repeat_are_not_repeated(tmp_path):
    data = {**patients(), "lab": np.random.default_rng(3).normal(5, 1, 400)}
    lab = released(tmp_path, data, ("lab", "code")).to_frame("pandas")["lab"]
    assert len(lab) > 500
    assert not lab.duplicated().any()


def test_the_same_key_gives_the_same_counterfeits(tmp_path):
    first, again, other = (
        released(tmp_path, patients(), key=key * 4).to_frame("pandas").astype(str)
        for key in ("one secret key", "one secret key", "another secret")
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_the_order_of_the_records_does_not_matter(tmp_path):
    data = patients()
    order = np.random.default_rng(5).permutation(400)
    first, other = (
        released(tmp_path, {name: [values[place] for place in places] for name, values in data.items()})
        for places in (range(400), order)
    )
    shown = [sorted(release.to_frame("pandas").to_csv(index=False).splitlines()) for release in (first, other)]
    assert shown[0] == shown[1]


def test_no_record_is_copied_as_a_whole(tmp_path):
    data = patients()
    release = released(tmp_path, data)
    rows, invented = release.to_frame("pandas"), release.records < 0
    true = {tuple(row) for row in rows.loc[~invented, list(BESIDE)].astype(str).to_numpy().tolist()}
    made = [tuple(row) for row in rows.loc[invented, list(BESIDE)].astype(str).to_numpy().tolist()]
    assert not any(row in true for row in made)


@pytest.mark.parametrize("tries", [0, 1])
def test_relations_are_kept_even_if_no_draw_succeeds(tmp_path, monkeypatch, tries):
    """Records that still break a relation get the related values of a true one."""
    monkeypatch.setattr("shoal.release.imitation._TRIES", tries)
    data = patients(300)
    release = released(tmp_path, data)
    places, invented = of_table(release.table, BESIDE).places(), release.records < 0
    for relation in of_table(shoal.read(data), BESIDE).relations():
        assert relation.broken(places)[invented].mean() <= 0.02, relation.columns  # the errors of true records


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 9)), min_size=40, max_size=120),
    st.integers(0, 1000),
)
def test_functions_hold_for_all_given_values(rows, seed):
    data = {
        "group": [f"g{group}" for group, _, _ in rows],
        "part": [f"p{group}{part}" for group, part, _ in rows],
        "number": [number for _, _, number in rows],
        "twice": [2 * number for _, _, number in rows],
    }
    some = of_table(shoal.read(data), list(data))
    given_codes = {"part": some.codes["part"][:20]}
    imitation = Imitation(
        some.columns, some.codes, given_codes, frozenset(), partial(drawn_numbers, str(seed).encode())
    )
    made = imitation.imitated()
    places = (
        Records({name: made[name].column for name in made}, {name: made[name].codes for name in made}).places()
        | Records({"part": some.columns["part"]}, given_codes).places()
    )
    for relation in some.relations():
        assert not relation.broken(places).any(), relation.columns


def test_perturbed_columns_get_no_new_values(tmp_path):
    data = patients()
    more = '[columns.iron]\nrole = "insensitive"\nperturb = { kind = "round", to = 1 }\n'
    (tmp_path / "draw.key").write_text("a secret key of many characters")
    policy = (POLICY % 'zinc = "insensitive"').replace("[draw]", more + "[draw]")
    (tmp_path / "policy.toml").write_text(policy)
    release = shoal.anonymize(shoal.read(data), tmp_path / "policy.toml")
    shown = release.to_frame("pandas")["iron"].dropna().astype(float)
    assert (shown == shown.round()).all()


@pytest.mark.parametrize("identified", [True, False])
def test_text_of_which_every_value_is_different_is_refused(tmp_path, identified):
    data = {**patients(), "note": [f"note {place if identified else place % 9}" for place in range(400)]}
    if not identified:
        assert released(tmp_path, data, (*BESIDE, "note")).table.records
        return
    with pytest.raises(shoal.ShoalError, match="Column 'note' has a different value for more than half of the records"):
        released(tmp_path, data, (*BESIDE, "note"))


def clinic(number, seed):
    """Return a table with relations of every kind: differences, conversions, sums, correlations, order, exclusions."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], number)
    start, days = rng.integers(18000, 19300, number), np.maximum(rng.normal(6, 5, number).round().astype(int), 0)
    hb, sbp, x = (
        rng.normal(13.5, 1.5, number).round(1),
        rng.normal(130, 18, number).round(),
        rng.uniform(1, 200, number).round(3),
    )
    kg, scores = rng.normal(75, 12, number).round(1), rng.integers(0, (10, 12, 7), (number, 3))
    women, men = (
        rng.choice(["O80", "N80", "I10", "E11", "J45"], number),
        rng.choice(["N40", "C61", "I10", "E11", "J45"], number),
    )
    return {
        "age": rng.integers(20, 90, number),
        "sex": sex,
        "ward": [f"w{ward}" for ward in rng.geometric(0.15, number)],
        "start": start,
        "days": days,
        "end": start + days,
        "visit": start + 14,
        "hb": hb,
        "ery": (0.33 * hb + rng.normal(0, 0.2, number)).round(2),
        "sbp": sbp,
        "dbp": np.minimum((0.6 * sbp + rng.normal(0, 5, number)).round(), sbp - 5),
        "kg": kg,
        "lb": (2.20462 * kg).round(3),
        "x": x,
        "logarithm": np.log(x).round(6),
        **{f"score{place}": scores[:, place] for place in range(3)},
        "total": scores.sum(axis=1),
        "eighth": rng.integers(0, 90, number) / 8,
        "dx": np.where(sex == "f", women, men),
    }


@pytest.mark.parametrize("number", [300, 1200])
def test_no_counterfeit_contradicts_itself(tmp_path, number):
    data = clinic(number, 2)
    release = released(tmp_path, data, [name for name in data if name not in {"age", "sex", "ward"}])
    rows, invented = release.to_frame("pandas"), release.records < 0
    made, true = rows[invented], rows[~invented]
    assert len(made) > 100
    for rest in (made["end"] - made["start"] - made["days"], made["visit"] - made["start"] - 14):
        assert not rest.any()
    assert (made["score0"] + made["score1"] + made["score2"] == made["total"]).all()
    assert ((2.20462 * made["kg"] - made["lb"]).abs() < 0.00051).all()
    assert ((np.log(made["x"]) - made["logarithm"]).abs() < 1e-6).all()
    assert (made["sbp"] > made["dbp"]).all()
    assert (made["eighth"] * 8 % 1 == 0).all()
    assert not made["dx"][made["sex"] == "m"].isin(["O80", "N80"]).any()
    assert not made["dx"][made["sex"] == "f"].isin(["N40", "C61"]).any()
    assert np.corrcoef(made["hb"], made["ery"])[0, 1] == pytest.approx(
        np.corrcoef(true["hb"], true["ery"])[0, 1], abs=0.05
    )
    for name in ("x", "kg", "start", "total"):  # the distribution does not shift
        assert made[name].mean() == pytest.approx(true[name].mean(), abs=0.25 * true[name].std())
