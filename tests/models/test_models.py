"""Every registered model against the slow reference, and what must hold for all of them."""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.classes.grouped import Coarsening
from shoal.errors import ModelError
from shoal.hierarchy.explicit import Explicit
from shoal.hierarchy.spec import bind
from shoal.models.evidence import Evidence, Gatherer, View
from shoal.models.model import MODELS, Better, Model, Monotone, Need, Scope
from shoal.verbs.measures import functions
from tests.effort import examples
from tests.models import reference

QUASI = ("age", "sex")
LADDER = {
    "a": ["a", "ab", "*"],
    "b": ["b", "ab", "*"],
    "c": ["c", "cd", "*"],
    "d": ["d", "cd", "*"],
}
HIERARCHY = Explicit(values={value: steps[1:] for value, steps in LADDER.items()})

# Models of populations and of individual thresholds have slow twins in their own tests.
APART = {name for name in MODELS if {Need.POPULATION, Need.THRESHOLD} & MODELS[name].needs}

cells = st.fixed_dictionaries(
    {
        "who": st.integers(0, 4),
        "age": st.sampled_from([30, 40, None]),
        "sex": st.sampled_from(["f", "m", None]),
        "dx": st.sampled_from("abcd"),
        "income": st.sampled_from([10.1, 10.4, 20.0, 31.7]),
        "home": st.sampled_from(["x", "y"]),
    }
)
tables = st.lists(cells, min_size=1, max_size=14)
subjects = st.sampled_from([None, "who"])
rules = st.sampled_from(["own", "never"])


def table_of(rows):
    return shoal.read({name: [row[name] for row in rows] for name in rows[0]})


def evidence_of(rows, **how):
    """Return what models read of rows; all models are tried on the same tables, which are counted once."""
    return _evidence_of(tuple(tuple(row.items()) for row in rows), **how)


@lru_cache(maxsize=1000)
def _evidence_of(rows, *, subject=None, missing="own", sensitive=("dx",)):
    table = table_of([dict(row) for row in rows])
    table = table.assign(subject=subject) if subject else table
    ladders = {"dx": bind(HIERARCHY, table, "dx")} if "dx" in sensitive else {}
    return Gatherer(table, shoal.table.missing.Missing(missing), ladders).evidence(View(QUASI, sensitive))


def close(got, wanted):
    if isinstance(wanted, Fraction | int) and isinstance(got, Fraction | int):
        return got == wanted
    return got == wanted or math.isclose(got, wanted, rel_tol=1e-12, abs_tol=1e-12)


@examples(150)
@given(rows=tables, subject=subjects, missing=rules)
def test_every_model_agrees_with_the_reference(rows, subject, missing):
    evidence = evidence_of(rows, subject=subject, missing=missing)
    wanted = reference.measures(rows, QUASI, "dx", subject=subject, missing=missing, ladder=LADDER)
    for (name, *given_), values in wanted.items():
        got = MODELS[name](**dict(given_)).measure(evidence)
        assert got.keys() == values.keys()
        assert all(close(got[key], values[key]) for key in values), (name, got, values)


@examples(60)
@given(rows=tables, subject=subjects, missing=rules)
def test_models_of_numbers_agree_with_the_reference(rows, subject, missing):
    evidence = evidence_of(rows, subject=subject, missing=missing, sensitive=("income",))
    for (name, *given_), values in reference.numeric_measures(
        rows, QUASI, "income", subject=subject, missing=missing
    ).items():
        assert dict(MODELS[name](**dict(given_)).measure(evidence)) == values


def test_the_reference_knows_every_model():
    """A model without a slow twin here would be a model nobody has checked."""
    rows = [{"who": 1, "age": 30, "sex": "f", "dx": "a", "income": 10.1}]
    plain = reference.measures(rows, QUASI, "dx", subject=None, missing="own", ladder=LADDER)
    numeric = reference.numeric_measures(rows, QUASI, "income", subject=None, missing="own")
    assert {key[0] for key in (*plain, *numeric)} | APART == set(MODELS)


@examples(100)
@given(rows=tables, subject=subjects)
def test_wildcards_count_compatible_persons(rows, subject):
    evidence = evidence_of(rows, subject=subject, missing="wildcard", sensitive=())
    assert MODELS["k-anonymity"]().measure(evidence)["k"] == min(reference.compatible(rows, QUASI, subject=subject))


def thresholds(model, evidence):
    """Return the model with the thresholds that the table attains, or None if some are infinite."""
    values = model.measure(evidence)
    if any(math.isinf(value) for value in values.values()):
        return None
    return type(model)(**{**model.model_dump(exclude_none=True), **values})


def variants():
    """Yield every model that needs no population, with its options, and the sensitive column that it reads."""
    extra = {
        "t-closeness": [{"distance": "equal"}, {"distance": "hierarchical"}, {"distance": "ordered"}],
        "delta-disclosure": [{"absent": "fail"}, {"absent": "ignore"}],
        "recursive-l-diversity": [{"l": 2}],
        "lkc-privacy": [{"l": 1}],
        "subset-k-anonymity": [{"m": 1}],
        "p-plus-sensitive-k-anonymity": [{"level": 1}],
    }
    for name in MODELS:
        if name in APART:
            continue
        for options in extra.get(name, [{}]):
            numeric = Need.NUMBERS in MODELS[name].needs or "ordered" in options.values()
            title = f"{name}-{'-'.join(map(str, options.values()))}"
            yield pytest.param(MODELS[name](**options), "income" if numeric else "dx", id=title)


VARIANTS = pytest.mark.parametrize(("model", "column"), list(variants()))
STRICT = {"recursive-l-diversity", "delta-disclosure"}  # must be less than the threshold, not equal to it


@VARIANTS
@examples(25)
@given(rows=tables, subject=subjects, missing=rules)
def test_the_attained_value_is_where_the_verdict_turns(model, column, rows, subject, missing):
    evidence = evidence_of(rows, subject=subject, missing=missing, sensitive=(column,))
    exactly = thresholds(model, evidence)
    if exactly is None or model.name == "entropy-l-diversity":
        return
    if model.name == "delta-disclosure":  # attained as a float, judged exactly
        above = type(model)(**{**exactly.model_dump(), "delta": float(exactly.delta) + 1e-9})
        assert above.verdict(evidence).satisfied
        return
    assert exactly.verdict(evidence).satisfied is (model.name not in STRICT)
    for name, better in model.measured.items():
        attained = getattr(exactly, name)
        stricter = attained + 1 if better is Better.MORE else attained - Fraction(1, 10**9)
        if stricter < 0:
            continue
        tried = type(model)(**{**exactly.model_dump(), name: stricter})
        assert not tried.verdict(evidence).satisfied


@VARIANTS
@examples(25)
@given(rows=tables, subject=subjects, missing=rules, seed=st.integers(0, 99))
def test_the_order_of_records_does_not_matter(model, column, rows, subject, missing, seed):
    shuffled = [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))]
    one, other = (evidence_of(part, subject=subject, missing=missing, sensitive=(column,)) for part in (rows, shuffled))
    assert model.measure(one) == model.measure(other)


def test_a_model_that_declares_nothing_promises_nothing():
    """A search would skip schemes that meet a new model, if it promised by default what it does not keep."""

    class NewModel(Model):
        def measure(self, evidence):
            raise NotImplementedError(evidence)

        failing = measure

    for overlap in (False, True):
        assert NewModel().monotone(overlap=overlap) == Monotone(generalisation=False, suppression=False)


@VARIANTS
@examples(25)
@given(rows=tables, subject=subjects)
def test_merging_classes_keeps_what_the_model_promises(model, column, rows, subject):
    """What holds for all classes holds for merged ones, where the model says so."""
    evidence = evidence_of(rows, subject=subject, sensitive=(column,))
    exactly = thresholds(model, evidence)
    promised = model.monotone(overlap=evidence.classes.overlap)
    if exactly is None or not promised.generalisation:
        return
    before, after = model.measure(evidence), model.measure(merged(evidence))
    for name, better in model.measured.items():
        slack = 1e-12 if isinstance(before[name], float) else 0
        assert after[name] >= before[name] - slack if better is Better.MORE else after[name] <= before[name] + slack


@VARIANTS
@examples(25)
@given(rows=tables, subject=subjects, share=st.fractions(0, 1))
def test_merging_classes_never_makes_more_persons_fail(model, column, rows, subject, share):
    """A class that passes absorbs one that fails, where the model says so."""
    evidence = evidence_of(rows, subject=subject, sensitive=(column,))
    if not model.monotone(overlap=evidence.classes.overlap).suppression:
        return
    asked = type(model)(**{**model.model_dump(exclude_none=True), **_between(model, evidence, share)})
    assert asked.verdict(merged(evidence)).persons <= asked.verdict(evidence).persons


def _between(model, evidence, share):
    """Return thresholds between those that the table attains and those that all records in one class attain."""
    fine, coarse = model.measure(evidence), model.measure(merged(merged(evidence), "sex"))
    kinds = {name: type(fine[name]) for name in model.measured}
    return {name: kinds[name](fine[name] + (coarse[name] - fine[name]) * share) for name in model.measured}


def merged(evidence, column="age"):
    """Return what is left of the classes when one quasi-identifier is dropped."""
    place = QUASI.index(column)
    coarser = evidence.classes.rolled({column: Coarsening.dropped(evidence.classes.attributes[place].size)})
    return Evidence(coarser, evidence.column, evidence.hierarchies)


@VARIANTS
@examples(25)
@given(rows=tables, subject=subjects, missing=rules)
def test_rolling_up_is_grouping_again(model, column, rows, subject, missing):
    evidence = evidence_of(rows, subject=subject, missing=missing, sensitive=(column,))
    again = evidence_of([{**row, "age": 0} for row in rows], subject=subject, missing=missing, sensitive=(column,))
    assert model.measure(merged(evidence)) == model.measure(again)


@VARIANTS
@examples(25)
@given(rows=tables, subject=subjects, missing=rules)
def test_failing_classes_and_persons_are_counted(model, column, rows, subject, missing):
    evidence = evidence_of(rows, subject=subject, missing=missing, sensitive=(column,))
    strict = type(model)(**{**model.model_dump(exclude_none=True), **_strictest(model)})
    verdict = strict.verdict(evidence)
    classes = reference.classes_of(rows, QUASI, column, subject=subject, missing=missing)
    failing = strict.failing(evidence)
    assert verdict.satisfied is (verdict.classes == 0) is (verdict.persons == 0)
    if failing.all():
        assert verdict.classes == len(classes)
        assert verdict.persons == len(set().union(*(held.persons for held in classes)))
    if model.scope is Scope.TABLE:
        assert failing.all() or not failing.any()


def _strictest(model):
    strict = {"k": 10**6, "l": 10**6, "p": 10**6, "e": 10**9}
    return (
        {
            name: strict.get(name, 0) if better is Better.MORE or name in strict else 0
            for name, better in model.measured.items()
        }
        | ({"alpha": 0} if model.name == "alpha-k-anonymity" else {"alpha": 100} if "alpha" in model.measured else {})
        | ({"l": 1000} if model.name == "entropy-l-diversity" else {})
    )


def test_every_model_has_a_plain_function_and_a_full_description():
    for name in MODELS:
        model = MODELS[name]
        assert model.name == name
        assert callable(functions()[name.replace("-", "_")])
        assert "Attained" in model.__doc__
        assert ">>>" in model.__doc__
        assert set(model.measured) <= set(model.model_fields)
        for field in model.model_fields.values():
            assert field.description


def test_models_refuse_wildcards_that_cannot_read_them():
    rows = [{"who": 1, "age": None, "sex": "f", "dx": "a", "income": 1.0}]
    evidence = evidence_of(rows, missing="wildcard")
    with pytest.raises(ModelError, match="The model l-diversity cannot be measured if missing"):
        MODELS["l-diversity"](l=1).verdict(evidence)
    assert MODELS["k-anonymity"](k=1).verdict(evidence).satisfied


def test_thresholds_are_needed_to_judge():
    rows = [{"who": 1, "age": 1, "sex": "f", "dx": "a", "income": 1.0}]
    with pytest.raises(ModelError, match="The model k-anonymity cannot be judged without k"):
        MODELS["k-anonymity"]().verdict(evidence_of(rows))


@examples(60)
@given(
    inside=st.lists(st.sampled_from("abcd"), min_size=2, max_size=2),
    outside=st.lists(st.sampled_from("abcd"), min_size=4, max_size=4),
)
def test_earth_movers_distance_is_what_it_says(inside, outside):
    """The reference's formulas against the transport problem itself: every unit is moved in every possible way."""
    table = [*inside, *outside]
    held = reference.Class()
    for person, value in enumerate(inside):
        held.persons.add(person)
        held.values[(value,)].add(person)
    before = {(value,): table.count(value) for value in sorted(set(table))}
    supply = {(value,): 3 * inside.count(value) for value in set(inside)}
    rank = {value: place for place, value in enumerate(before)}

    def common(one, other):
        return next(level for level in range(3) if LADDER[one[0]][level] == LADDER[other[0]][level])

    def moved(distance):
        return reference.transport(supply, before, distance)

    assert reference.equal_t(held, before) == moved(lambda one, other: one != other)
    assert reference.ordered_t(held, before) * max(len(before) - 1, 1) == moved(
        lambda one, other: abs(rank[one] - rank[other])
    )
    assert reference.hierarchical_t(held, before, LADDER) * 2 == moved(common)
