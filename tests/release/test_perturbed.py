"""Perturbed columns of a release: no credit for privacy, one draw per person and value, nothing that undoes them."""

import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import toml
from shoal.errors import PolicyError, ReleaseError, ShoalError
from shoal.techniques.technique import TECHNIQUES, Gives
from tests.effort import examples

KEY = "a key that is long enough"
KINDS = {
    "round": {"kind": "round", "to": 5},
    "rounded at random": {"kind": "round", "to": 5, "method": "random"},
    "code": {"kind": "code", "persons": 3},
    "noise": {"kind": "noise", "share": 0.5},
    "swap": {"kind": "swap", "share": 0.4},
    "shuffle": {"kind": "shuffle"},
}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("DRAW_KEY", KEY)


def policy(columns, requirements=({"model": "k-anonymity", "k": 2},), **more):
    """Return a policy with a key."""
    given = {
        "version": 1,
        "columns": columns,
        "require": list(requirements),
        "draw": {"key_variable": "DRAW_KEY"},
        **more,
    }
    return shoal.Policy.model_validate(given)


def rows(release):
    return release.to_frame("pyarrow").to_pydict()


@st.composite
def cohorts(draw):
    """Persons with one to three records each, some values missing."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    persons = draw(st.integers(8, 25))
    who = np.repeat(np.arange(persons), rng.integers(1, 4, persons))
    sex, age = rng.choice(["f", "m"], persons)[who], rng.integers(40, 46, persons)[who]
    unknown = rng.random(persons)[who]
    return {
        "who": who.tolist(),
        "age": [None if share < 0.1 else int(value) for share, value in zip(unknown, age, strict=True)],
        "sex": [None if share > 0.9 else str(value) for share, value in zip(unknown, sex, strict=True)],
        "dx": rng.choice(["flu", "gout", None], len(who), p=[0.6, 0.3, 0.1]).tolist(),
        "cost": [None if rng.random() < 0.1 else int(cost) for cost in rng.integers(0, 40, len(who))],
    }


CLASSES = [name for name in TECHNIQUES if Gives.CLASSES in TECHNIQUES[name].gives]


@given(
    cohorts(),
    st.sampled_from([*KINDS, "pram"]),
    st.sampled_from(CLASSES),
    st.booleans(),
    st.sampled_from(["memory", "disk"]),
)
@examples(120)
def test_every_kind_and_technique_with_several_records(cohort, kind, recoding, of_persons, engine):
    """A release meets its requirements on true values, and shows values where and as the perturbation promises."""
    columns = {"age": {"role": "quasi", "hierarchy": {"kind": "interval", "widths": [2]}}, "sex": {"role": "quasi"}}
    columns["dx"] = {"role": "sensitive", **({"perturb": {"kind": "pram", "keep": 0.3}} if kind == "pram" else {})}
    columns["cost"] = {"role": "insensitive", **({} if kind == "pram" else {"perturb": KINDS[kind]})}
    columns["who"] = {"role": "direct"}
    data = {"subject": "who"} if of_persons else {}
    if of_persons:
        del columns["who"]
    asked = [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2}]
    table = shoal.read(cohort, engine=engine)
    try:
        release = shoal.anonymize(
            table, policy(columns, asked, data=data, search={"recoding": recoding, "suppression": 0.5})
        )
    except (ReleaseError, PolicyError) as error:
        assert error.code in {"too-little-suppression", "too-much-suppression", "impossible", "nothing-perturbed",
            "too-few-to-code", "too-few-individuals"}  # fmt: skip
        return
    shown, origins = rows(release), release.records
    classes = defaultdict(list)
    for place, origin in enumerate(origins):
        classes[shown["age"][place], shown["sex"][place]].append(origin)
    for members in classes.values():
        assert len({cohort["who"][origin] if of_persons else origin for origin in members}) >= 2
        assert len({cohort["dx"][origin] for origin in members}) >= 2
    for name in ("dx", "cost"):
        seen = {}
        for place, origin in enumerate(origins):
            old, new = cohort[name][origin], shown[name][place]
            assert (old is None) == (new is None)
            if of_persons:  # one draw per person and value
                assert seen.setdefault((cohort["who"][origin], old), new) == new


HOMOGENEOUS = {
    "age": [30, 30, 30, 30, 50, 50, 50, 50],
    "dx": ["flu", "flu", "flu", "flu", "flu", "gout", "gout", "ms"],
}


def test_a_perturbation_gets_no_credit():
    """A class whose members all have the flu stays so for the requirement, although the release shows other values."""
    columns = {"age": {"role": "quasi", "hierarchy": {"kind": "suppression"}}}
    for keep in (0, 0.5):
        columns["dx"] = {"role": "sensitive", "perturb": {"kind": "pram", "keep": keep}}
        release = shoal.anonymize(
            shoal.read(HOMOGENEOUS), policy(columns, [{"model": "l-diversity", "l": 2}], search={"suppression": 0})
        )
        assert set(rows(release)["age"]) == {"*"}
        assert release.requirements[0].verdict.value == {"l": 3}
        columns["dx"]["perturb"] = {"kind": "pram", "keep": keep}
    measured = [
        shoal.anonymize(shoal.read(HOMOGENEOUS), policy({**columns, "dx": dx}, [{"model": "t-closeness", "t": 0.5}]))
        for dx in ({"role": "sensitive"}, columns["dx"])
    ]
    assert measured[0].requirements[0].verdict.value == measured[1].requirements[0].verdict.value


def test_true_values_are_in_no_file(tmp_path):
    """The engine holds the true values beside the released ones, and no file does."""
    rng = np.random.default_rng(0)
    table = shoal.read(
        {"age": rng.integers(20, 25, 60).tolist(), "bill": (rng.integers(10_000, 99_999, 60) / 7).tolist()}
    )
    columns = {"age": {"role": "quasi"}, "bill": {"role": "sensitive", "perturb": {"kind": "noise", "share": 0.2}}}
    release = shoal.anonymize(table, policy(columns, search={"suppression": 0.5}))
    release.save(tmp_path / "out.csv")
    true = {f"{value!r}"[:9] for value in table.to_frame("pyarrow").column("bill").to_pylist()}
    public = [tmp_path / "out.csv", tmp_path / "out.csv.manifest.json"]
    assert release.to_frame("pyarrow").column_names == ["age", "bill"]
    assert not any(value in path.read_text() for value in true for path in public)


def test_manifests_name_the_perturbation_and_no_key(tmp_path):
    columns = {
        "age": {"role": "quasi"},
        "dx": {"role": "sensitive", "perturb": {"kind": "pram", "keep": 0.5}},
        "cost": {"role": "insensitive", "perturb": {"kind": "noise", "share": 0.25}},
    }
    rng = np.random.default_rng(1)
    table = shoal.read(
        {
            "age": rng.integers(20, 23, 80).tolist(),
            "dx": rng.choice(["flu", "gout"], 80).tolist(),
            "cost": rng.integers(0, 50, 80).tolist(),
        }
    )
    shoal.anonymize(table, policy(columns)).save(tmp_path / "out.csv")
    public = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert public["perturbed"]["cost"] == {
        "kind": "noise",
        "share": 0.25,
        "proved": public["perturbed"]["cost"]["proved"],
    }
    assert set(public["perturbed"]["dx"]["matrix"]) == {"flu", "gout"}
    assert "Random noise was added to the values: 'cost'." in public["truthful"]
    assert "No false value" not in public["truthful"]
    assert not any(KEY in path.read_text() for path in tmp_path.rglob("*.*") if path.is_file())


def test_sets_introduce_no_false_value(tmp_path):
    columns = {"age": {"role": "quasi"}, "cost": {"role": "insensitive", "perturb": {"kind": "round", "to": 5}}}
    release = shoal.anonymize(shoal.read({"age": [1, 1, 2, 2], "cost": [3, 9, 14, 20]}), policy(columns))
    assert rows(release)["cost"] == [5, 10, 15, 20]
    assert release.facts["truthful"].startswith("Values were rounded to multiples of a base: 'cost'.")
    assert release.facts["truthful"].endswith("No false value was introduced.")


def test_the_same_person_and_value_draws_the_same_when_data_grow():
    """A later extract repeats the draws of the former one, so that noise does not average out."""
    rng = np.random.default_rng(2)
    who, cost = np.arange(60), rng.integers(0, 100, 60)
    columns = {
        "age": {"role": "quasi"},
        "cost": {"role": "insensitive", "perturb": {"kind": "pram", "matrix": _swaps()}},
    }
    shown = []
    for number in (40, 60):
        data = {"who": who[:number].tolist(), "age": [1, 2] * (number // 2), "cost": (cost[:number] % 3).tolist()}
        release = shoal.anonymize(shoal.read(data), policy(columns, data={"subject": "who"}))
        shown.append(dict(zip(np.array(data["who"])[release.records].tolist(), rows(release)["cost"], strict=True)))
    assert all(shown[1][person] == value for person, value in shown[0].items())


def _swaps():
    return {str(old): {str(new): 1 / 3 for new in range(3)} for old in range(3)}


def people(number=200):
    """Return weights, heights, and the body mass index that follows from them."""
    rng = np.random.default_rng(7)
    height, weight = rng.normal(1.7, 0.1, number).round(2), rng.normal(75, 12, number).round(1)
    return {
        "age": rng.integers(20, 24, number).tolist(),
        "height": height.tolist(),
        "weight": weight.tolist(),
        "bmi": (weight / height**2).round(1).tolist(),
        "kilos": weight.tolist(),
        "logarithm": np.log10(weight).round(4).tolist(),
        "tens": (weight // 10).tolist(),
    }


@pytest.mark.parametrize(
    ("beside", "undone"),
    [
        (["height", "bmi"], True),
        (["kilos"], True),
        (["height"], False),
        (["bmi"], False),
        (["logarithm"], True),
        (["tens"], False),
        ([], False),
    ],
)
def test_what_other_columns_tell_is_refused(beside, undone):
    """Noise on the weight is undone by height and body mass index, and by a copy of the weight."""
    noisy = {"role": "sensitive", "perturb": {"kind": "noise", "share": 0.2}}
    columns = {"age": {"role": "quasi"}, "weight": noisy, **{name: {"role": "insensitive"} for name in beside}}
    table = shoal.read(people())
    if not undone:
        shoal.anonymize(table, policy(columns))
        return
    with pytest.raises(PolicyError, match="has (no|little) effect") as caught:
        shoal.anonymize(table, policy(columns))
    assert all(f"'{name}'" in caught.value.message for name in beside)
    columns.update(dict.fromkeys(beside, noisy))  # all of them perturbed
    shoal.anonymize(table, policy(columns))


def lipids(number=800):
    """Return what is computed from several columns: sums, a mean, a product, a flag."""
    rng = np.random.default_rng(9)
    ldl, hdl, fats = (rng.gamma(9, scale, number).round(1) for scale in (14, 6, 16))
    days, daily = rng.integers(1, 20, number), rng.gamma(5, 80, number).round(2)
    crp = rng.gamma(1, 8, number).round(3)
    wrong = np.arange(number) % 50 == 0
    items = rng.integers(0, 4, (4, number))
    return {
        "age": rng.integers(20, 24, number).tolist(),
        "ldl": ldl,
        "hdl": hdl,
        "fats": fats,
        "total": np.where(wrong, 0, ldl + hdl + fats / 5).round(1),
        "days": days,
        "daily": daily,
        "cost": (days * daily).round(0),
        "crp": crp,
        "high": np.where(crp > 10, "yes", "no"),
        "other": rng.choice(["yes", "no"], number),
        "unsure": np.where(rng.random(number) < 0.1, None, np.where(crp > 10, "yes", "no")),
        "rare": np.where(np.arange(number) == 7, "yes", "no"),
        "wild": np.where(np.arange(number) == 7, 5000.0, rng.normal(100, 10, number).round(1)),
        "score": items.sum(0),
        **{f"item{place}": item for place, item in enumerate(items)},
        "chance": rng.gamma(9, 10, number).round(1),
    }


@pytest.mark.parametrize(
    ("name", "beside", "undone"),
    [
        ("total", ["ldl", "hdl", "fats"], True),
        ("fats", ["ldl", "hdl", "total"], True),
        ("total", ["ldl", "hdl"], False),
        ("cost", ["days", "daily", "chance"], True),
        ("daily", ["days", "cost"], True),
        ("cost", ["days"], False),
        ("high", ["crp"], True),
        ("other", ["crp"], False),
        ("unsure", ["crp"], True),
        ("rare", ["crp"], False),
        ("wild", ["ldl", "hdl"], False),
        ("crp", ["ldl", "hdl"], False),
        ("item1", ["score", "item0", "item2", "item3"], True),
        ("item1", ["score", "item0", "item2"], False),
        ("chance", ["ldl", "hdl", "fats", "crp", "cost"], False),
    ],
)
def test_what_several_columns_tell_together_is_refused(name, beside, undone):
    data = {column: list(values) for column, values in lipids().items() if column in {"age", name, *beside}}
    perturb = {"kind": "pram"} if isinstance(data[name][0], str) else {"kind": "noise", "share": 0.3}
    columns = {"age": {"role": "quasi"}, name: {"role": "sensitive", "perturb": perturb}}
    columns |= {other: {"role": "insensitive"} for other in beside}
    if not undone:
        shoal.anonymize(shoal.read(data), policy(columns))
        return
    with pytest.raises(PolicyError, match="has little effect"):
        shoal.anonymize(shoal.read(data), policy(columns))


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ({"role": "direct", "perturb": {"kind": "swap"}}, "perturbation-of-role"),
        ({"role": "sensitive", "perturb": {"kind": "shuffle", "given": ["nobody"]}}, "perturbation-reads-unknown"),
        ({"role": "sensitive", "perturb": {"kind": "noise", "share": 0}}, "invalid"),
        ({"role": "sensitive", "perturb": {"kind": "noize"}}, "invalid"),
    ],
)
def test_wrong_policies(column, code):
    with pytest.raises(ShoalError) as caught:
        shoal.anonymize(
            shoal.read({"age": [1, 1], "cost": [3, 9]}),
            shoal.Policy.parse(
                "version = 1\ncolumns.age = 'quasi'\nrequire = [{ model = 'k-anonymity', k = 2 }]\n"
                f"columns.cost = {toml.value(column)}"
            ),
        )
    assert caught.value.code == code


def test_text_cannot_be_rounded():
    columns = {"age": {"role": "quasi"}, "dx": {"role": "sensitive", "perturb": {"kind": "round", "to": 5}}}
    with pytest.raises(PolicyError, match="applies to: 'integer', 'number'. It contains text"):
        shoal.anonymize(shoal.read({"age": [1, 1], "dx": ["a", "b"]}), policy(columns))


@pytest.mark.parametrize("perturb", [*KINDS.values()])
def test_counterfeits_have_perturbed_values_too(perturb):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"kind": "suppression"}},
        "cost": {"role": "sensitive", "perturb": perturb},
    }
    table = shoal.read({"age": [1] * 20 + [2] * 20 + [3], "cost": list(range(41))})
    asked = policy(columns, [{"model": "k-anonymity", "k": 3}], search={"outliers": "counterfeits", "suppression": 0.1})
    release = shoal.anonymize(table, asked)
    assert len(rows(release)["cost"]) == 43
    assert None not in rows(release)["cost"]


def covers(label, value):
    """Whether a label such as 20-24, 90+, <20 or [2.5, 7.5) contains a number."""
    if label == "*" or label == str(value):
        return True
    if label.endswith("+") or label.startswith(">="):
        return value >= float(label.strip(">=+"))
    if label.startswith("<"):
        return value < float(label[1:])
    if label.startswith("["):
        low, high = map(float, label[1:-1].split(","))
        return low <= value < high
    low, high = map(float, label.split("-"))
    return low <= value <= high


SETS = {
    "code": ("age", {"kind": "code", "top": 44, "bottom": 21}, {"20": "<21", "44": "44+", "45": "44+"}),
    "code by persons": ("age", {"kind": "code", "persons": 3}, {}),
    "round": ("age", {"kind": "round", "to": 5}, {"22": "18-22", "23": "23-27", "45": "43-47"}),
    "round decimals": ("bmi", {"kind": "round", "to": 2.5}, {"21.2": "[18.75, 21.25)", "21.3": "[21.25, 23.75)"}),
}


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian", "microaggregation"])
@pytest.mark.parametrize("kind", list(SETS))
def test_sets_of_quasi_identifiers_are_counted(kind, recoding):
    """Every cell is at least as coarse as the perturbation, contains its value, and k counts the sets."""
    name, perturb, examples_of = SETS[kind]
    rng = np.random.default_rng(3)
    data = {"age": rng.integers(20, 46, 400).tolist(), "bmi": rng.normal(25, 4, 400).round(1).tolist()}
    table = shoal.read({name: data[name], "sex": rng.choice(["f", "m"], 400).tolist()})
    columns = {name: {"role": "quasi", "perturb": perturb}, "sex": {"role": "quasi"}}
    asked = [{"model": "k-anonymity", "k": 3}]
    release = shoal.anonymize(table, policy(columns, asked, search={"recoding": recoding, "suppression": 0.1}))
    shown, sizes = rows(release), defaultdict(int)
    true = table.to_frame("pyarrow").to_pydict()
    for place, origin in enumerate(release.records):
        label = shown[name][place]
        sizes[label, shown["sex"][place]] += 1
        assert covers(label, true[name][origin])
        assert label == "*" or label != str(true[name][origin]) or kind.startswith("code")
    assert min(sizes.values()) >= 3
    assert release.facts["truthful"].endswith("No false value was introduced.")
    assert release.quality["loss"].total.value == shoal.compare(table, release).quality["loss"].total.value
    hierarchy = policy(columns).hierarchies(policy(columns).apply(table))[name]
    labels = dict(zip(hierarchy.labels(0).to_pylist(), hierarchy.labels(1).to_pylist(), strict=True))
    assert {value: labels[value] for value in examples_of if value in labels} == {
        value: label for value, label in examples_of.items() if value in labels
    }


def test_a_hierarchy_that_does_not_fit_the_perturbation():
    columns = {
        "age": {
            "role": "quasi",
            "hierarchy": {"kind": "interval", "widths": [10]},
            "perturb": {"kind": "round", "to": 5},
        }
    }
    with pytest.raises(ShoalError, match="The perturbation does not fit the hierarchy"):
        shoal.anonymize(shoal.read({"age": [18, 19, 21, 22]}), policy(columns))


MEASURED = {"attack": "linkage-rate", "at_most": 0.3}


def noisy(share=4.0, **more):
    return {"role": "quasi", "perturb": {"kind": "noise", "share": share}, **more}


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(11)
    return shoal.read(
        {
            "age": rng.integers(20, 30, 300).tolist(),
            "bmi": rng.normal(26, 4, 300).round(1).tolist(),
            "dx": rng.choice(["flu", "gout"], 300).tolist(),
        }
    )


def test_a_drawn_quasi_identifier_requires_a_measurement(mixed):
    """Classes of drawn values are of people who do not exist: k-anonymity of them is refused."""
    columns = {"age": {"role": "quasi"}, "bmi": noisy(), "dx": {"role": "sensitive"}}
    with pytest.raises(PolicyError, match="must be measured by an attack"):
        shoal.anonymize(mixed, policy(columns))
    with pytest.raises(PolicyError, match="cannot be limited"):
        shoal.anonymize(mixed, policy(columns, [{"attack": "homogeneity", "at_most": 1.0}]))
    release = shoal.anonymize(mixed, policy(columns, [{"model": "k-anonymity", "k": 5}, MEASURED]))
    verdicts = {judgement.verdict.model: judgement for judgement in release.requirements}
    assert str(verdicts["k-anonymity"].guarantee) == "verified"
    assert str(verdicts["linkage-rate"].guarantee) == "measured"
    assert min(np.unique(rows(release)["age"], return_counts=True)[1]) >= 5
    assert release.facts["columns"]["bmi"] == "quasi"
    assert any("do not include 'bmi'" in note for note in release.notes)
    assert release.quality["loss"].total.value == shoal.compare(mixed, release).quality["loss"].total.value
    assert "bmi" in shoal.compare(mixed, release).perturbed


def test_too_little_noise_is_refused_by_its_measurement(mixed):
    columns = {"age": {"role": "quasi"}, "bmi": noisy(0.01), "dx": {"role": "sensitive"}}
    with pytest.raises(ReleaseError, match="'linkage-rate' succeeds for up to"):
        shoal.anonymize(mixed, policy(columns, [MEASURED]))


def test_all_quasi_identifiers_may_be_drawn(mixed, tmp_path):
    columns = {"bmi": noisy(), "age": {"role": "quasi", "perturb": {"kind": "shuffle"}}, "dx": {"role": "sensitive"}}
    with pytest.raises(PolicyError, match="cannot be evaluated"):
        shoal.anonymize(mixed, policy(columns, [{"model": "k-anonymity", "k": 5}, MEASURED]))
    release = shoal.anonymize(mixed, policy(columns, [MEASURED]))
    assert sorted(rows(release)["age"]) == sorted(mixed.to_frame("pyarrow").column("age").to_pylist())
    release.save(tmp_path / "out.csv")
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["columns"]["bmi"] == "quasi"
    found = shoal.compare(mixed, release).perturbed
    assert found["age"]["distribution-shift"].value == 0
    assert found["bmi"]["absolute-error"].value > 0.3


def test_linked_columns_are_not_drawn(mixed):
    columns = {"age": {"role": "quasi"}, "bmi": {**noisy(), "linked": "age"}}
    with pytest.raises(PolicyError, match="linked to another column"):
        shoal.anonymize(mixed, policy(columns, [MEASURED]))


def test_the_manifest_of_a_perturbed_release_tells_no_more_than_the_release(tmp_path):
    """Another original with the same released table has the same public manifest, although its shares differ."""
    columns = {"sex": {"role": "quasi"}, "ill": {"role": "sensitive", "perturb": {"kind": "pram", "keep": 0.05}}}
    rules = policy(columns, data={"subject": "id"})
    data = {"id": list(range(60)), "sex": ["f", "m"] * 30, "ill": ["yes"] * 20 + ["no"] * 40}
    shoal.anonymize(data, rules).save(tmp_path / "first.csv")
    pairs = 0
    for person in range(0, 60, 3):
        other = {**data, "ill": [*data["ill"]]}
        other["ill"][person] = "no" if person < 20 else "yes"
        shoal.anonymize(other, rules).save(tmp_path / "other.csv", force=True)
        if (tmp_path / "first.csv").read_bytes() == (tmp_path / "other.csv").read_bytes():
            pairs += 1
            texts = [(tmp_path / f"{name}.csv.manifest.json").read_text() for name in ("first", "other")]
            assert texts[0] == texts[1]
    assert pairs


def test_sums_differences_and_partial_copies_are_refused():
    """Dates over years hide a length of stay from correlations, and exceptions do not protect the other persons."""
    rng = np.random.default_rng(3)
    number = 400
    stay, weight = rng.integers(1, 40, number), rng.normal(75, 12, number).round(1)
    admitted = np.datetime64("2015-01-01") + rng.integers(0, 3000, number)
    data = {
        "sex": rng.choice(["f", "m"], number).tolist(),
        "stay": stay.tolist(),
        "admitted": admitted.tolist(),
        "discharged": (admitted + stay).tolist(),
        "weight": weight.tolist(),
        "later": np.where(rng.random(number) < 0.8, weight, weight + rng.normal(0, 30, number)).round(1).tolist(),
        "calls": np.where(rng.random(number) < 0.8, 0, stay).tolist(),
        "texts": np.where(rng.random(number) < 0.8, 0, stay[::-1]).tolist(),
    }
    noisy = {"role": "sensitive", "perturb": {"kind": "noise", "share": 0.5}}

    def released(name, *others):
        columns = {"sex": "quasi", name: noisy, **dict.fromkeys(others, "insensitive")}
        return shoal.anonymize(data, policy(columns))

    for name, others in (("stay", ["admitted", "discharged"]), ("weight", ["later"])):
        with pytest.raises(PolicyError, match="follow from") as caught:
            released(name, *others)
        assert all(f"'{other}'" in caught.value.message for other in others)
    released("calls", "texts")  # both are mostly 0
    released("stay", "admitted", "weight")


def test_noise_with_another_share_is_drawn_anew():
    """Otherwise two releases with the same key would be two equations for the true value."""
    values = np.random.default_rng(1).normal(100, 10, 500).round(2)
    data = {"id": list(range(500)), "sex": ["f", "m"] * 250, "x": values.tolist()}
    added = []
    for share in (0.2, 0.4):
        columns = {"sex": "quasi", "x": {"role": "sensitive", "perturb": {"kind": "noise", "share": share}}}
        release = shoal.anonymize(data, policy(columns, data={"subject": "id"}))
        shown = np.empty(500)
        shown[release.records] = rows(release)["x"]
        added.append(shown - values)
    assert abs(np.corrcoef(*added)[0, 1]) < 0.2 + 0.2  # both also shrink towards the mean


def test_a_person_with_many_values_is_one_person():
    """Top coding counts persons, of whom one may have all of the highest values."""
    data = {
        "who": [*range(300), *[0] * 20],
        "sex": ["f"] * 320,
        "x": [*(30 + number % 50 for number in range(300)), *range(900, 920)],
    }
    columns = {"sex": "quasi", "x": {"role": "sensitive", "perturb": {"kind": "code", "persons": 11, "side": "top"}}}
    release = shoal.anonymize(data, policy(columns, data={"subject": "who"}))
    coded = [place for place, value in enumerate(rows(release)["x"]) if value.endswith("+")]
    assert len({data["who"][release.records[place]] for place in coded}) >= 11
    assert not any(
        value.startswith("9") and not value.endswith("+") and len(value) == 3 for value in rows(release)["x"]
    )
    columns["x"]["role"] = "quasi"
    with pytest.raises(PolicyError, match="individuals have several values"):
        shoal.anonymize(data, policy(columns, data={"subject": "who"}))


def explained(truth, *releases):
    """Return the share of the variance of true values that releases explain together."""
    known = np.stack([np.ones(len(truth)), *releases], 1)
    rest = truth - known @ np.linalg.lstsq(known, truth, rcond=None)[0]
    return 1 - rest.var() / truth.var()


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("kept", [2990, 2500, 1500])
def test_releases_with_the_same_key_do_not_reveal_the_noise(correlated, kept, monkeypatch):
    """The noise of releases of other individuals is the same, or independent: its difference tells nothing."""
    monkeypatch.setenv("NOISE_KEY", "a key that is long enough")
    rng = np.random.default_rng(8)
    x = rng.normal(1000, 300, 3000).round(2)
    x[kept:] *= 1.2  # who is left out has higher values: the standard deviation differs
    data = {"who": range(3000), "sex": ["f", "m"] * 1500, "x": x, "y": (x + rng.normal(0, 200, 3000)).round(2)}
    noise = {"role": "sensitive", "perturb": {"kind": "noise", "share": 0.5, "correlated": correlated}}
    columns = {"sex": "quasi", "x": noise, "y": noise if correlated else "insensitive"}
    policy = {"version": 1, "data": {"subject": "who"}, "columns": columns, "draw": {"key_variable": "NOISE_KEY"}}
    policy |= {"require": [{"model": "k-anonymity", "k": 2}]}
    releases = []
    for number in (3000, kept):
        table = {name: list(values)[:number] for name, values in data.items()}
        release = shoal.anonymize(table, shoal.Policy.model_validate(policy))
        shown = np.zeros(number)
        shown[release.records] = release.to_frame("pyarrow")["x"].to_numpy()
        releases.append(shown[:kept])
    assert explained(x[:kept], releases[0]) == pytest.approx(0.8, abs=0.1)
    assert explained(x[:kept], *releases) < 0.92  # two independent draws: 1 / (1 + 0.25 / 2) = 0.89
