"""Kroes' measures against the literal formula, and against the published and recomputed values."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.individuals.protection import alternatives, at, weakest
from shoal.subsets import SubsetCounts, subsets_of


def literal(rows, sensitive, known, *, subject=None):
    """Return peers, same and the persons with each value, for every row: the formula, word by word."""
    people = [row[subject] if subject else place for place, row in enumerate(rows)]
    found = []
    for row in rows:
        like = [(who, other) for who, other in zip(people, rows, strict=True) if all(other[n] == row[n] for n in known)]
        values = {}
        for who, other in like:
            values.setdefault(other[sensitive], set()).add(who)
        found.append(
            (len({who for who, _ in like}), len(values[row[sensitive]]), {v: len(p) for v, p in values.items()})
        )
    return found


cells = st.fixed_dictionaries(
    {"who": st.integers(0, 5), "a": st.integers(0, 2), "b": st.integers(0, 1), "c": st.sampled_from("xyz")}
)
tables = st.lists(cells, min_size=1, max_size=10)


@given(rows=tables, subject=st.sampled_from([None, "who"]))
def test_every_combination_against_the_formula(rows, subject):
    table = shoal.read({name: [row[name] for row in rows] for name in rows[0]})
    table = table.assign(subject=subject) if subject else table
    counted = SubsetCounts.of(table, ["a", "b", "c"])
    domain = len({row["c"] for row in rows})
    smallest = [Fraction(1)] * len(rows)
    for subset in subsets_of(0b011, empty=True):
        known = [name for place, name in enumerate("ab") if subset >> place & 1]
        wanted = literal(rows, "c", known, subject=subject)
        seen = at(counted, 2, subset)
        peers, same = counted.expand(seen.peers), counted.expand(seen.same)
        assert peers.tolist() == [one for one, _, _ in wanted]
        assert same.tolist() == [one for _, one, _ in wanted]
        for q in (Fraction(0), Fraction(1, 3)):
            others = counted.expand(alternatives(counted, 2, subset, q))
            for row, got, (all_, _, values) in zip(rows, others, wanted, strict=True):
                assert got == sum(n > q * all_ for value, n in values.items() if value != row["c"]) <= domain - 1
        if subset:
            smallest = [min(old, 1 - Fraction(s, n)) for old, (n, s, _) in zip(smallest, wanted, strict=True)]
    least = weakest(counted, 2, list(subsets_of(0b011)))
    got = counted.expand(np.array([Fraction(int(n), int(d)) for n, d in zip(least.npp(), least.peers, strict=True)]))
    assert got.tolist() == smallest


@pytest.mark.parametrize("name", ["1a", "1b", "1c"])
def test_table_1(shared, name):
    """All 135 cells of the paper's first table."""
    cases = [
        case for case in json.loads((shared / "oracles/kroes/table1_oracle.json").read_text()) if case["table"] == name
    ]
    table = shoal.read(shared / f"data/kroes/table{name}.csv")
    names = {column.lower().split()[0]: column for column in table.names}
    counted = SubsetCounts.of(table, table.names)
    for case in cases:
        variable = table.names.index(names[case["sensitive"].lower().split()[0]])
        subset = counted.subset([names[known.lower().split()[0]] for known in case["aux"]])
        seen = at(counted, variable, subset)
        person = case["id"] - 1
        got = [int(counted.expand(part)[person]) for part in (seen.peers, seen.same, seen.npp())]
        assert got == [case["peers"], case["same"], case["NPP"]]
        assert counted.expand(seen.ppp().floats())[person] == pytest.approx(case["PPP"], abs=1e-12)
        others = counted.expand(alternatives(counted, variable, subset))[person]
        domain = len(table[table.names[variable]].values)
        assert others / (domain - 1) == pytest.approx(case["PoAC_q0"], abs=1e-12)
    assert len(cases) == 45


@pytest.mark.parametrize("name", ["adult", "cervical"])
def test_smallest_ppp_of_everybody(shared, name):
    wanted = np.load(shared / f"oracles/kroes/{name}_measures.npz")
    table = shoal.read(shared / f"data/kroes/{name}.csv")
    counted = SubsetCounts.of(table, table.names, threads=2)
    every = (1 << len(table.names)) - 1
    for variable, column in enumerate(table.names):
        known = every ^ 1 << variable
        least = counted.expand(weakest(counted, variable, list(subsets_of(known))).ppp().floats())
        most = at(counted, variable, known)
        assert np.abs(least - wanted[f"{column}__minPPP"]).max() <= 1e-12
        assert np.abs(counted.expand(most.ppp().floats()) - wanted[f"{column}__PPPmax"]).max() <= 1e-12
        assert (counted.expand(most.npp()) == wanted[f"{column}__NPPmax"]).all()
        assert (counted.expand(most.peers) == wanted[f"{column}__peersmax"]).all()
        others = counted.expand(alternatives(counted, variable, known)) / (len(table[column].values) - 1)
        assert np.abs(others - wanted[f"{column}__PoACmax_q0"]).max() <= 1e-12


def test_the_means_that_the_authors_left_in_their_app(shared):
    """Adult, PPP of salary at maximum information without one variable after the other: eight published digits."""
    table = shoal.read(shared / "data/kroes/adult.csv")
    counted = SubsetCounts.of(table, table.names)
    salary = table.names.index("salary")
    known = counted.subset([name for name in table.names if name != "salary"])
    means = [
        counted.expand(at(counted, salary, known ^ 1 << place).ppp().floats()).mean()
        for place, name in enumerate(table.names)
        if name != "salary"
    ]
    published = [0.10201724, 0.19252669, 0.09874690, 0.13474677, 0.15474972, 0.09647474, 0.12545721, 0.15101291]
    assert np.abs(np.array(means) - published).max() < 5e-9


def test_missing_values_match_nothing_if_so_ruled():
    table = shoal.read({"a": [1, 1, None, None], "s": ["x", "y", "x", "y"]})
    own = SubsetCounts.of(table, ["a", "s"])
    never = SubsetCounts.of(table, ["a", "s"], missing=shoal.table.missing.Missing.NEVER)
    assert own.expand(own.counts[1]).tolist() == [2, 2, 2, 2]
    assert never.expand(never.counts[1]).tolist() == [2, 2, 1, 1]


def test_alternatives_with_a_threshold(shared):
    """The authors' code compares a count with a share here; these values follow the formula."""
    wanted = np.load(shared / "oracles/kroes/cervical_poac_qpos.npz")
    table = shoal.read(shared / "data/kroes/cervical.csv")
    for q in ("0.01", "0.05", "0.1", "0.25"):
        people = shoal.peers(table, q=q)
        for name, held in people.variables.items():
            found = people.values(name, "poac")
            assert np.abs(found - wanted[f"{name}__minPoAC_q{q}"]).max() <= 1e-12
            variable, known = people.counted.names.index(name), people.counted.subset(held.known)
            at_most = people.counted.expand(alternatives(people.counted, variable, known, Fraction(q)))
            assert np.abs(at_most / (held.domain - 1) - wanted[f"{name}__PoACmax_q{q}"]).max() <= 1e-12


TABLE_2 = {
    "adult": (30_162, 19_502, {"gender": 2, "race": 5, "salary": 2}),
    "diabetes": (99_493, 77_748, {"gender": 3, "readmitted": 3}),
    "cervical": (789, 254, {"num_pregnancies": 11, "smoking": 2, "age": 43, "biopsy": 2}),
}


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2(shared, name):
    """Records, different rows and sizes of domains of the three datasets of the paper."""
    table = shoal.read(shared / f"data/kroes/{name}.csv")
    records, distinct, domains = TABLE_2[name]
    assert (table.records, len(table.distinct())) == (records, distinct)
    assert {column: len(table[column].values) for column in domains} == domains


def test_few_of_many_columns_are_listed_at_once():
    """Going through all 2^60 subsets to find the small ones would never end."""
    assert list(subsets_of((1 << 60) - 1, most=1)) == [1 << place for place in range(60)]
    assert sum(1 for _ in subsets_of((1 << 60) - 1, most=3)) == 36_050
    assert list(subsets_of(0b101, most=1, empty=True)) == [0, 1, 4]
    assert list(subsets_of(0, empty=True)) == [0]
    people = shoal.peers(
        {"who": [1, 1, 2], **{f"c{n}": [0, 1, n] for n in range(45)}}, subject="who", most=2, sensitive="c0"
    )
    assert people.plan.way == "listed"
