"""Trials: the time of a search, measured in samples of increasing size and extrapolated to the whole table.

Which schemes a search evaluates depends on the data, the requirements and the technique. A formula cannot foresee it,
so the search itself is timed. The schemes cost time however small the sample, and every distinct combination adds some:
T(n) = a + b · n for n distinct combinations, fitted to the last two samples.
"""

from dataclasses import dataclass
from math import inf
from time import process_time

from shoal.errors import ShoalError
from shoal.policy.policy import Policy
from shoal.progress import Progress
from shoal.release.case import Case
from shoal.release.making import treatment_of
from shoal.release.sampling import sampled
from shoal.search.goal import MOST_SCHEMES
from shoal.table.table import Table

SECONDS = 4.0  # processor time for all trials of a table
_FEWEST = 500  # records of the first sample;
_STEP = 4  # the next ones have this many times the records
_GROWTH = 0.15  # exponent of the growth of time with combinations, if a single sample was timed


@dataclass(frozen=True, slots=True)
class Timed:
    """A search in a sample: its number of distinct combinations, and the processor time in seconds."""

    combinations: int
    seconds: float


class _TooLongError(Exception):
    """The time for trials is over. ``whole``: the estimated time of the search that was stopped."""

    def __init__(self, whole: float) -> None:
        super().__init__()
        self.whole = whole


def search_seconds(table: Table, policy: Policy, combinations: int, most: float = SECONDS) -> float | None:
    """Estimate the processor time of a search in ``combinations`` distinct combinations, in seconds.

    The table may itself be a sample. Return None if the policy cannot be searched for, as without a requirement.
    """
    trials, records, left = list[Timed](), _FEWEST, most
    while True:
        fraction = min(records / max(table.records, 1), 1.0)
        try:
            trials.append(_timed(table, policy, fraction, left))
            left -= trials[-1].seconds
        except _TooLongError as stopped:
            trials.append(Timed(round(fraction * combinations), stopped.whole))
            break
        except ShoalError:  # too few persons, or no requirement
            if fraction == 1:
                return None
        if fraction == 1 or (trials and _extrapolated(trials, _STEP * trials[-1].combinations) > left):
            break
        records *= _STEP
    return min(_extrapolated(trials, combinations), _limit(table, policy)) if trials else None


def _limit(table: Table, policy: Policy) -> float:
    """Return the time limit of the search; none if all its schemes are searched."""
    schemes = Case.of(table, policy).searchable().space.schemes
    return policy.search.seconds if schemes > MOST_SCHEMES else inf


def _timed(table: Table, policy: Policy, fraction: float, left: float) -> Timed:
    """Time the search in a sample; it is stopped when the time is over."""
    sample = table if fraction == 1 else sampled(table, fraction, b"trial")[0]
    began = process_time()

    def hook(step: Progress) -> None:
        elapsed = process_time() - began
        if elapsed > left:
            raise _TooLongError(elapsed * (step.total or step.done) / step.done if step.done else elapsed)

    case = Case.of(sample, policy).searchable()
    treatment_of(case, 1, hook)
    return Timed(len(sample.distinct(case.table.quasi)), process_time() - began)


def _extrapolated(trials: list[Timed], combinations: int) -> float:
    """Return the time for a number of distinct combinations, from those of the samples.

    >>> round(_extrapolated([Timed(100, 1.0), Timed(400, 1.3)], 1000), 3)
    1.9
    >>> round(_extrapolated([Timed(100, 1.0)], 1600), 3)
    1.516
    """
    last = trials[-1]
    if len(trials) > 1 and last.combinations > trials[-2].combinations:
        slope = (last.seconds - trials[-2].seconds) / (last.combinations - trials[-2].combinations)
        return last.seconds + max(slope, 0.0) * max(combinations - last.combinations, 0)
    return last.seconds * float(max(combinations / max(last.combinations, 1), 1.0) ** _GROWTH)
