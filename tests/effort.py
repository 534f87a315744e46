"""How much of a test runs in each tier: hypothesis profiles, a scale for their examples, and subsets of parameters."""

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations as choose
from itertools import product

import pytest
from _pytest.mark import ParameterSet
from hypothesis import HealthCheck, settings

QUICK, EXHAUSTIVE, NIGHTLY = "quick", "exhaustive", "nightly"
USUAL = 60  # examples of a test that states no number: half of them run with --all

_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
settings.register_profile(QUICK, _COMMON, max_examples=USUAL // 5, derandomize=True)
settings.register_profile(EXHAUSTIVE, _COMMON, max_examples=USUAL // 2, derandomize=bool(os.environ.get("CI")))
settings.register_profile(NIGHTLY, _COMMON, max_examples=USUAL * 10, print_blob=True)


def examples(usual: int) -> settings:
    """Set the number of examples: half with ``--all``, a fifth in the quick tier, ten times as many nightly.

    There are never fewer than three.
    """
    return settings(max_examples=max(usual * settings.default.max_examples // USUAL, 3))


def per_profile(quick: int, exhaustive: int, nightly: int) -> int:
    """Return the number for the profile that runs, for tests that draw their cases themselves."""
    return {QUICK: quick, EXHAUSTIVE: exhaustive, NIGHTLY: nightly}[settings.get_current_profile_name()]


def tiered(values: Iterable[object], quick: int, exhaustive: int | None = None) -> list[ParameterSet]:
    """Return parameters of which the first few run in both tiers, and the others with ``--all`` only.

    ``exhaustive``: how many run with ``--all``; the others run in the nightly profile only. A tuple holds the values of
    several parameters; one that is the value of a single parameter goes into ``pytest.param``.
    """
    last = float("inf") if exhaustive is None else exhaustive
    return [_parameters(value, exhaustive=place >= quick, nightly=place >= last) for place, value in enumerate(values)]


def pairwise(
    indirect: Sequence[str] = (), *, rarely: Callable[..., bool] = lambda **_: False, **factors: Sequence[object]
) -> pytest.MarkDecorator:
    """Parametrise with every combination; the quick tier runs enough of them to meet every pair of values.

    ``rarely``: chooses combinations, by their values, that run in the nightly profile only.
    """
    combinations = list(product(*(range(len(values)) for values in factors.values())))
    quick = _covering(combinations)
    parameters = [
        _parameters(
            [values[place] for values, place in zip(factors.values(), places, strict=True)],
            exhaustive=places not in quick,
            nightly=rarely(**{name: factors[name][place] for name, place in zip(factors, places, strict=True)}),
        )
        for places in combinations
    ]
    return pytest.mark.parametrize(tuple(factors), parameters, indirect=indirect)


def _covering(combinations: Sequence[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Return few combinations in which every pair of values occurs: always the one that meets most new pairs."""
    chosen: set[tuple[int, ...]] = set()
    missing = set().union(*map(_pairs, combinations))
    while missing:
        best = max(combinations, key=lambda places: len(_pairs(places) & missing))
        chosen.add(best)
        missing -= _pairs(best)
    return chosen


def _pairs(places: tuple[int, ...]) -> set[object]:
    return set(choose(enumerate(places), 2))


def _parameters(value: object, *, exhaustive: bool, nightly: bool = False) -> ParameterSet:
    """Put a value, the values of several parameters, or what ``pytest.param`` returned into its tier."""
    flat = [value] if not isinstance(value, list | tuple) or isinstance(value, ParameterSet) else list(value)
    marks = [*([pytest.mark.exhaustive] if exhaustive else []), *([pytest.mark.nightly] if nightly else [])]
    cells = []
    for cell in flat:
        if isinstance(cell, ParameterSet):
            marks += cell.marks
            cells += cell.values
        else:
            cells.append(cell)
    return pytest.param(*cells, marks=marks)
