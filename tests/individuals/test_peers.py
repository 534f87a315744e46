"""``peers``: persons, combinations, facts; in Python and on the command line."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.command_line import run as run_in
from tests.individuals.test_protection import literal

import shoal
from shoal.errors import ColumnError, ModelError
from shoal.individuals import looking
from shoal.kernels import library

SMALL = {"dx": ["flu", "flu", "ms", "ms"], "sex": ["f", "f", "m", "m"], "age": [30, 40, 40, 30]}

cells = st.fixed_dictionaries(
    {"who": st.integers(0, 4), "a": st.integers(0, 2), "b": st.integers(0, 1), "c": st.sampled_from("xyz")}
)
tables = st.lists(cells, min_size=1, max_size=9)


def subsets(names):
    return [[name for place, name in enumerate(names) if bits >> place & 1] for bits in range(1, 1 << len(names))]


@given(rows=tables, most=st.sampled_from([None, 1]), p=st.sampled_from([0, Fraction(1, 3)]))
def test_everything_against_the_formula(rows, most, p):
    people = shoal.peers({name: [row[name] for row in rows] for name in "abc"}, most=most, p=p, q=Fraction(1, 4))
    for name in "abc":
        others = [other for other in "abc" if other != name]
        seen = {
            tuple(known): literal(rows, name, known) for known in subsets(others) if most is None or len(known) <= most
        }
        domain = len({row[name] for row in rows})
        ppp = [min(1 - Fraction(found[i][1], found[i][0]) for found in seen.values()) for i in range(len(rows))]
        assert people.values(name, "ppp").tolist() == pytest.approx([float(one) for one in ppp], abs=1e-15)
        full = literal(rows, name, others)
        assert people.values(name, "npp").tolist() == [peers - same for peers, same, _ in full]
        poac = [
            min(
                sum(n > Fraction(found[i][0], 4) for value, n in found[i][2].items() if value != rows[i][name])
                for found in seen.values()
            )
            for i in range(len(rows))
        ]
        assert people.values(name, "poac").tolist() == pytest.approx([one / max(domain - 1, 1) for one in poac])
        summary = people.summary()[name]
        assert summary["breached"] == sum(one <= p for one in ppp)
        assert summary["mean"] == pytest.approx(float(sum(ppp)) / len(rows))


@given(rows=tables)
def test_facts_about_a_person(rows):
    people = shoal.peers({name: [row[name] for row in rows] for name in "abc"})
    for record in range(len(rows)):
        for facts in people.for_person(record):
            others = [other for other in "abc" if other != facts.variable]
            telling = [
                set(known)
                for known in subsets(others)
                if literal(rows, facts.variable, known)[record][0] == literal(rows, facts.variable, known)[record][1]
            ]
            minimal = [one for one in telling if not any(other < one for other in telling)]
            assert sorted(map(sorted, facts.minimal)) == sorted(map(sorted, minimal))


def test_persons_with_several_rows_count_once():
    data = {"who": [1, 1, 2, 3], "ward": ["a", "b", "a", "b"], "dx": ["x", "x", "y", "y"]}
    people = shoal.peers(data, subject="who")
    assert people.persons() == 3
    assert len(people) == 4
    assert set(people.variables) == {"ward", "dx"}
    assert people.summary()["dx"]["breached"] == 0
    assert people.values("dx", "npp").tolist() == [1, 1, 1, 1]


def test_the_frame_has_a_row_for_each_record():
    frame = shoal.peers(pd.DataFrame(SMALL)).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 4
    assert list(frame)[:3] == ["dx.ppp", "dx.npp", "dx.poac"]
    assert frame["dx.ppp"].tolist() == [0, 0, 0, 0]


def test_what_may_be_known_can_be_chosen():
    by_age = shoal.peers(SMALL, sensitive="dx", auxiliary="age")
    assert by_age.summary()["dx"]["breached"] == 0
    assert by_age.values("dx", "ppp").tolist() == [0.5] * 4
    assert set(by_age.variables) == {"dx"}
    nothing = shoal.peers({"dx": ["a", "a"], "age": [1, 2]}, sensitive="dx", empty=True)
    assert nothing.for_person(0)[0].minimal == ((),)  # everybody has it: nothing needs to be known
    roles = shoal.Policy.parse(
        'version = 1\ncolumns.sex = "quasi"\ncolumns.dx = "sensitive"\ncolumns.age = "insensitive"'
    )
    assert set(shoal.peers(SMALL, roles).variables) == {"sex", "dx"}


def test_thresholds_can_be_joined():
    people = shoal.peers({"s": list("abcabc"), "a": [1] * 6}, sensitive="s", p=Fraction(1, 2), q="joint")
    assert people.question.q == {"s": Fraction(1, 4)}


def test_the_assumptions_are_told():
    assert len(shoal.peers(SMALL).assumptions) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shoal.peers({"a": [1]}), "At least two columns"),
        (lambda: shoal.peers(SMALL, sensitive="dy"), "There is no column 'dy'"),
        (lambda: shoal.peers(SMALL, missing="wildcard"), "Combinations of columns cannot be counted if missing"),
        (lambda: shoal.peers(SMALL).for_person(4), "There is no record 4"),
        (lambda: shoal.peers(SMALL).values("dx", "pp"), "no measure 'pp'"),
        (lambda: shoal.peers({f"c{place}": [1, 2] for place in range(70)}), "70 columns have too many combinations"),
        (
            lambda: shoal.peers({f"c{n}": [1, 2] for n in range(60)}, empty=True),
            "sensitive variables are too many to evaluate",
        ),
        (lambda: shoal.peers(SMALL, combinations=[["dx"]], sensitive="dx"), "At least two columns"),
        (lambda: shoal.peers(SMALL, combinations=[["dx", "sex"]], sensitive="dx"), "Every given combination contains"),
        (lambda: shoal.peers(SMALL, p="many"), "p must be a number"),
        (lambda: shoal.peers(SMALL, q=1.5), "q must be a share between"),
        (lambda: shoal.peers(SMALL, most=0), "most must be a whole number"),
        (lambda: shoal.peers(SMALL, most="3"), "most must be a whole number"),
        (lambda: shoal.peers(SMALL, sample=0), "sample must be a whole number"),
        (lambda: shoal.peers(SMALL, combinations="age"), "lists of columns"),
        (lambda: shoal.peers(SMALL, sensitive="dx", tolerance={"age": 1}), "'age' is not among the sensitive columns"),
        (lambda: shoal.peers(SMALL, sensitive="age", known_within={"age": 1}), "'age' is not among the known columns"),
        (lambda: shoal.peers(SMALL, sensitive="dx").values("age", "ppp"), "is not among the sensitive variables"),
        (lambda: shoal.peers(SMALL, combinations=[[]]), "lists of columns"),
        (lambda: shoal.peers({"a": [], "b": []}), "no records"),
        (
            lambda: shoal.peers(SMALL, subject="age", sensitive="age"),
            "is the subject: it can be neither known nor inferred",
        ),
        (
            lambda: shoal.peers(SMALL, subject="age", combinations=[["age"]]),
            "is the subject: it can be neither known nor inferred",
        ),
        (lambda: shoal.peers(SMALL).for_person(True), "There is no record"),
        (lambda: shoal.peers(SMALL).for_person(None), "There is no record"),
        (lambda: shoal.peers(SMALL, tolerance={"age": "-1"}), "The tolerance for column"),
        (lambda: shoal.peers(SMALL, combinations=[["job"]]), "There is no column 'job'"),
        (lambda: shoal.peers(SMALL, tolerance={"sex": 1}), "is of type text, which has no distances"),
        (lambda: shoal.peers(SMALL, tolerance={"age": 1}, memory=0), "Choose fewer columns"),
        (lambda: shoal.peers({**SMALL, "who": [1, 1, 2, 3]}, subject="who", tolerance={"age": 1}), "several different"),
        (
            lambda: shoal.peers(SMALL, tolerance={"age": 1}).values("age", "poac"),
            "is not computed with tolerances, several known records",
        ),
    ],
)
def test_what_cannot_be_asked(call, message):
    with pytest.raises((ColumnError, ModelError), match=message):
        call()


def test_kernels_agree():
    rng = np.random.default_rng(4)
    data = {name: rng.integers(0, size, 300) for name, size in (("a", 3), ("b", 7), ("c", 2), ("d", 30))}
    found = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found.append(shoal.peers(data, p="1/10", q="1/10").summary())
    assert found[0] == found[1]


def test_what_if_one_variable_were_unknown(shared):
    for name in ("adult", "cervical"):
        wanted = np.load(shared / f"oracles/kroes/{name}_leave_one_out.npz")
        people = shoal.peers(shoal.read(shared / f"data/kroes/{name}.csv"))
        sensitive = sorted({key.split("__without_")[0] for key in wanted if "__without_" in key})
        assert sensitive
        for variable in sensitive:
            for unknown, held in people.leave_one_out(variable).items():
                key = f"{variable}__without_{unknown}__"
                expand = people.counted.expand
                assert np.abs(expand(held.least.ppp().floats()) - wanted[f"{key}minPPP"]).max() <= 1e-12
                assert np.abs(expand(held.full.ppp().floats()) - wanted[f"{key}PPPmax"]).max() <= 1e-12
                assert np.abs(expand(held.poac()) - wanted[f"{key}PoAC_q0"]).max() <= 1e-12


def test_only_facts_that_a_neighbour_knows():
    data = {"dx": ["flu", "ms", "ms"], "sex": ["f", "m", "m"], "lab": [1, 2, 3]}
    people = shoal.peers(data, sensitive="dx")
    assert people.within_reach({"sex": 1, "lab": 2}) == {"dx": {1: 3, 2: 3}}
    people = shoal.peers({"dx": ["flu", "ms", "ms"], "sex": ["f", "f", "m"], "lab": [1, 2, 3]}, sensitive="dx")
    assert people.within_reach({"sex": 1, "lab": 2}) == {"dx": {1: 1, 2: 3}}
    with pytest.raises(ColumnError, match="There is no column 'job'"):
        people.within_reach({"job": 1})


@given(
    rows=tables,
    subject=st.sampled_from([None, "who"]),
    missing=st.sampled_from(["own", "never"]),
    most=st.sampled_from([None, 1]),
    q=st.sampled_from([0, Fraction(1, 3)]),
)
def test_listing_finds_what_counting_finds(rows, subject, missing, most, q):
    data = {name: [None if row[name] == 0 else row[name] for row in rows] for name in "abc"}
    data["who"] = [row["who"] for row in rows]
    asked = {"subject": subject, "missing": missing, "most": most, "q": q, "empty": True}
    counted, listed = (shoal.peers(data, memory=memory, **asked) for memory in (1 << 30, 0))
    assert (counted.plan.way, listed.plan.way) == ("counted", "listed")
    assert counted.summary() == listed.summary()
    assert counted.to_frame().equals(listed.to_frame())


def test_only_some_combinations():
    people = shoal.peers(SMALL, combinations=[["age"], ["sex", "age"]], sensitive="dx")
    assert people.plan.combinations == 2
    assert people.for_person(0)[0].minimal == (("sex", "age"),)
    assert people.summary()["dx"]["breached_by_facts"] == {"2": 4}
    assert set(people.leave_one_out("dx")) == {"sex"}  # without age, no combination is left
    assert not people.leave_one_out("dx")["sex"].least.breached().any()
    assert people.within_reach({"age": 1}) == {"dx": {1: 0}}


@given(rows=tables, tolerance=st.integers(0, 2), near=st.integers(0, 2), kernels=st.sampled_from(["c", "numpy"]))
def test_what_is_near_agrees(rows, tolerance, near, kernels):
    """A is learned within a tolerance and B known within a range, by the formula, word by word."""
    data = {name: [row[name] for row in rows] for name in ("a", "b", "who")}
    with library.using(kernels):
        people = shoal.peers(data, tolerance={"a": tolerance}, known_within={"who": near, "a": 1})
    wanted = []
    for row in rows:
        shares = []
        for known in subsets(["b", "who"]):
            reach = {"b": 0, "who": near}
            like = [other for other in rows if all(abs(other[n] - row[n]) <= reach[n] for n in known)]
            shares.append(1 - Fraction(sum(abs(other["a"] - row["a"]) <= tolerance for other in like), len(like)))
        wanted.append(float(min(shares)))
    assert people.values("a", "ppp").tolist() == wanted
    for record in range(len(rows)):
        facts = next(one for one in people.for_person(record) if one.variable == "a")
        assert bool(facts.minimal) == (wanted[record] == 0)


def test_near_is_meant_in_decimals():
    """0.4 − 0.3 is more than 0.1 in doubles; a verdict must not hang on that."""
    data = {"dose": [0.3, 0.4, 0.4], "age": [1, 1, 1]}
    assert shoal.peers(data, tolerance={"dose": "0.1"}).values("dose", "ppp").tolist() == [0, 0, 0]
    data = {"seen": pd.to_datetime(["2020-01-01", "2020-01-08", "2020-03-01"]).date, "age": [1, 1, 1]}
    assert shoal.peers(data, tolerance={"seen": 7}).values("seen", "npp").tolist() == [1, 1, 2]


def test_a_sample_is_right_about_those_in_it():
    rng = np.random.default_rng(5)
    data = {f"c{place}": rng.integers(0, 3, 4000) for place in range(6)}
    everybody = shoal.peers(data)
    some = shoal.peers(data, sample=500, seed=3, memory=0)
    assert some.plan.way == "listed"  # few combinations: everybody is asked about
    assert some.sampled() is None
    rng = np.random.default_rng(6)
    data = {f"c{place}": rng.integers(0, 2 + place % 2, 6000) for place in range(13)}
    everybody, some = shoal.peers(data), shoal.peers(data, sample=500, seed=3, memory=0)
    assert (some.plan.way, some.sampled()) == ("searched", 500)
    inside = 0
    for name, summary in some.summary().items():
        exact, found = everybody.values(name, "ppp"), some.values(name, "ppp")
        asked = ~np.isnan(found)
        assert 400 < asked.sum() < 6000
        assert found[asked].tolist() == exact[asked].tolist()
        low, high = summary["interval"]["mean"]
        inside += low <= exact.mean() <= high
        low, high = summary["interval"]["share_breached"]
        inside += low <= (exact == 0).mean() <= high
    assert inside >= 22  # of 26 intervals of 95 %
    record = int(np.flatnonzero(np.isnan(some.values("c0", "ppp")))[0])
    with pytest.raises(ModelError, match="not in the sample"):
        some.for_person(record)


@given(rows=tables, most=st.sampled_from([None, 1, 2]), p=st.sampled_from([0, Fraction(1, 3)]))
def test_searching_finds_what_counting_finds(rows, most, p):
    data = {name: [row[name] for row in rows] for name in ("a", "b", "c", "who")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "FEW", 0)
        _search_and_count(data, rows, most, p)


def _search_and_count(data, rows, most, p):
    counted, searched = (shoal.peers(data, most=most, p=p, memory=memory) for memory in (1 << 30, 0))
    assert searched.plan.way == "searched"
    assert not searched.stopped()
    for name in data:
        for measure in ("ppp", "npp", "poac"):
            if measure != "poac" or most is None:
                assert counted.values(name, measure).tolist() == searched.values(name, measure).tolist()
    for record in range(len(rows)):
        one, other = counted.for_person(record), searched.for_person(record)
        assert [(facts.variable, facts.ppp, facts.minimal) for facts in one] == [
            (facts.variable, facts.ppp, facts.minimal) for facts in other
        ]
    for name, summary in searched.summary().items():
        wanted = counted.summary()[name]
        assert {key: summary[key] for key in ("mean", "breached", "quantiles")} == {
            key: wanted[key] for key in ("mean", "breached", "quantiles")
        }
        assert summary["breached_by_facts"] == wanted["breached_by_facts"]  # three others: never more than three facts


@pytest.mark.parametrize(("deepest", "shown"), [(3, "175"), (2, "≥ 0")])
def test_the_sheet_of_a_search_that_stopped_counts_few_facts(deepest, shown):
    """Persons who need more facts than were searched have no number of facts."""
    rng = np.random.default_rng(0)
    people = shoal.peers({f"c{place}": rng.integers(0, 3, 300).tolist() for place in range(24)}, seconds=1)
    held = people.variables["c0"]
    assert people.plan.way == "searched"
    smallest = np.where(np.arange(300) < 175, 3, 4).astype(held.smallest.dtype)
    known = replace(people, variables={"c0": replace(held, deepest=deepest, smallest=smallest)})
    assert known.sheet().rows[0][2] == shown


def test_forty_columns_end_in_time():
    rng = np.random.default_rng(9)
    data = {f"c{place}": rng.integers(0, 5, 300) for place in range(40)}
    people = shoal.peers(data, seconds=0.2)
    assert len(people.summary()) == 40
    assert "549,755,813,887 combinations of 39 variables" in people.plan.remark
    shallow = shoal.peers(data, most=2)
    assert not shallow.stopped()
    for name in data:
        assert (people.values(name, "ppp") >= 0).all()
        if people.stopped():
            at_least = people.counted.expand(people.variables[name].at_least)
            assert (at_least <= people.values(name, "ppp") + 1e-12).all()


def test_the_command(tmp_path):
    shoal.write(shoal.read(SMALL), tmp_path / "a.csv")
    done = run_in("peers", tmp_path / "a.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0
    found = json.loads(done.stdout)["result"]["variables"]
    assert {"mean", "share_breached", "quantiles", "breached_by_facts"} <= found["dx"].keys()
    assert found["dx"]["breached_by_facts"] == {"1": 4}
    screen = run_in("peers", tmp_path / "a.csv", "--sensitive", "dx", cwd=tmp_path)
    assert "100%" in screen.stdout
    assert "Assumptions: The adversary knows that the individual is in the table." in screen.stdout
    assert run_in("peers", tmp_path / "a.csv", "--sensitive", "dy", cwd=tmp_path).returncode == 2


def test_the_command_draws_and_tells(tmp_path):
    pd.DataFrame({**SMALL, "cost": [1, 2, 3, 4]}).to_csv(tmp_path / "data.csv", index=False)
    asked = ("peers", "data.csv", "--sensitive", "dx")
    done = run_in(*asked, "--png", "heat.png", "--pictures", "all", "--sweep", "age", "--person", 0, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Record 0" in done.stdout
    assert "Generalisation of age" in done.stdout
    assert "Written: heat.png" in done.stderr
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")
    made = {path.name for path in (tmp_path / "all").iterdir()}
    assert made == {f"{n}.{kind}" for n in ("persons", "facts", "unknown-1", "sweep") for kind in ("svg", "png")}
    again = run_in(*asked, "--png", "heat.png", cwd=tmp_path)
    assert again.returncode == 2
    assert "already exists" in again.stderr
    found = json.loads(run_in(*asked, "--json", "--person", 1, "--only", "sex", cwd=tmp_path).stdout)
    assert found["result"]["combinations"] == 1
    assert found["result"]["person"][0]["minimal"] == [["sex"]]
    reach = run_in("peers", "data.csv", "--json", "--access", "sex=1,age=2", cwd=tmp_path)
    assert json.loads(reach.stdout)["result"]["within_reach"]["dx"] == {"1.0": 4, "2.0": 4}
    assert "accessible variables" in run_in("peers", "data.csv", "--access", "sex=1", cwd=tmp_path).stdout
    near = json.loads(run_in("peers", "data.csv", "--json", "--tolerance", "cost=3", cwd=tmp_path).stdout)
    assert near["result"]["variables"]["cost"]["mean"] == 0
    for wrong in (("--tolerance", "cost"), ("--access", "sex=near"), ("--sweep", "age", "--sensitive", "dx,age")):
        assert run_in("peers", "data.csv", *wrong, cwd=tmp_path).returncode == 2


@given(rows=tables, subject=st.sampled_from([None, "who"]), missing=st.sampled_from(["own", "never"]))
def test_the_posterior_of_every_value(rows, subject, missing):
    rows = [{**row, "a": None if row["a"] == 2 else row["a"]} for row in rows]
    data = {name: [row[name] for row in rows] for name in ("who", "a", "b", "c")}
    people = shoal.peers(data, sensitive="c", auxiliary=["a", "b"], subject=subject, missing=missing)
    who = [row["who"] if subject else place for place, row in enumerate(rows)]
    for known in (["a"], ["a", "b"]):
        total = np.zeros(len(rows))
        for value in sorted({row["c"] for row in rows}):
            found = people.pp("c", value, known)
            for place, row in enumerate(rows):
                if missing == "never" and any(row[name] is None for name in known):
                    assert found[place] == (row["c"] == value)
                    continue
                like = [one for one, other in enumerate(rows) if all(other[name] == row[name] for name in known)]
                have = {who[one] for one in like if rows[one]["c"] == value}
                assert found[place] == pytest.approx(len(have) / len({who[one] for one in like}))
            total += found
        assert subject or total == pytest.approx(np.ones(len(rows)))


def test_what_posterior_there_is_not():
    people = shoal.peers(SMALL)
    for call, message in (
        (lambda: people.pp("dx", "gout"), "No individual has this value in"),
        (lambda: people.pp("dx", "flu", ["dx"]), "cannot be known"),
        (lambda: shoal.peers(SMALL, tolerance={"age": 1}).pp("age", 30), "PP is not computed with tolerances"),
    ):
        with pytest.raises(ModelError, match=message):
            call()


def test_a_missing_value_is_one_of_the_alternatives():
    """Counted as possible but not among the values, it would make PoAC twice what it can be."""
    people = shoal.peers({"s": ["x", "y", None], "a": [1, 1, 1]}, sensitive="s")
    assert people.values("s", "poac").tolist() == [1, 1, 1]
    assert people.summary()["s"]["share_downward"] == 1
    assert shoal.peers({"s": ["x", "x", None], "a": [1, 1, 2]}, sensitive="s").summary()["s"]["share_downward"] == 0


def test_nobody_is_protected_by_what_is_missing():
    """Missing facts match nothing; that a value is missing can be learned all the same."""
    people = shoal.peers({"s": [None, None, "x"], "a": [1, 1, 2]}, sensitive="s", missing="never")
    assert people.values("s", "ppp").tolist() == [0, 0, 0]
    assert people.values("s", "npp").tolist() == [0, 0, 0]


def test_facts_of_one_person_in_many_columns():
    rng = np.random.default_rng(3)
    people = shoal.peers({f"c{place}": rng.integers(0, 4, 60) for place in range(15)}, sensitive="c0")
    (facts,) = people.for_person(0)
    counts, row = people.counted.counts, int(people.counted.expand(np.arange(60))[0])
    for combination in facts.minimal[:50]:
        subset = people.counted.subset(combination)
        assert counts[subset, row] == counts[subset | 1, row]


def test_the_assumptions_are_those_that_were_made():
    assert "at most 1 known" in shoal.peers(SMALL, most=1).assumptions[2]
    assert "the given combinations" in shoal.peers(SMALL, combinations=[["age", "sex"]], sensitive="dx").assumptions[2]
    assert "within the tolerance" in shoal.peers(SMALL, tolerance={"age": 1}).assumptions[-1]


def test_moments_can_be_near():
    seen = pd.to_datetime(["2020-01-01 10:00", "2020-01-02 09:00", "2020-03-01 00:00"])
    assert shoal.peers({"seen": seen, "a": [1, 1, 1]}, tolerance={"seen": 1}).values("seen", "npp").tolist() == [
        1,
        1,
        2,
    ]
