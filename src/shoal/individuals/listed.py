"""Evaluation of sensitive variables over a list of combinations, counted one at a time.

Only the weakest protection so far is kept in memory.
"""

from collections.abc import Callable, Mapping, Sequence

from shoal.errors import ModelError
from shoal.individuals.counted import fewest_others
from shoal.individuals.protection import at
from shoal.individuals.question import Question
from shoal.individuals.variable import Variable
from shoal.individuals.weakest import Weakest, check_inferable
from shoal.remedy import Option, by, either
from shoal.subsets import SubsetCounts

WORK = 5e9  # rows × combinations × variables, which take a few minutes
COST = 30_000  # fixed cost of a combination, in rows


def look_listed(
    counts: Mapping[str, SubsetCounts],
    hidden: Sequence[str],
    known: Sequence[str],
    question: Question,
    progress: Callable[[int, int], None],
) -> dict[str, Variable]:
    """Evaluate sensitive variables, each with its own counts, one combination after the other."""
    counted = counts[hidden[0]]
    number = question.number(counted.subset(known))
    if number * len(hidden) * (len(counted.rows) + COST) > WORK:
        raise ModelError(
            "too-many-combinations",
            "{number:,} combinations of {known:variable} for {hidden:sensitive variable} are too many to evaluate.",
            remedy=either(
                by("Limit the number of known variables", Option("most", 3)),
                by("choose fewer variables", Option("auxiliary")),
            ),
            number=number,
            known=len(known),
            hidden=len(hidden),
        )
    variables = {}
    for done, name in enumerate(hidden):
        others = [other for other in known if other != name]
        listed = sorted(question.subsets(counted.subset(others)), key=lambda subset: (subset.bit_count(), subset))

        def tell(step: int, place: int = done, steps: int = len(listed)) -> None:
            progress(place * steps + step, len(hidden) * steps)

        variables[name] = _look(counts[name], name, others, listed, question, tell)
    return variables


def _look(  # noqa: PLR0913, PLR0917 - all parameters of the evaluation
    counted: SubsetCounts,
    name: str,
    known: Sequence[str],
    listed: Sequence[int],
    question: Question,
    tell: Callable[[int], None],
) -> Variable:
    check_inferable(name, len(listed))
    variable, auxiliary = counted.names.index(name), counted.subset(known)
    weakest = Weakest(name, question.p)
    for step, subset in enumerate(listed):
        tell(step)
        weakest.add(at(counted, variable, subset), subset)
    others = fewest_others(counted, variable, listed, auxiliary, question.q[name])
    return weakest.variable(counted, known, at(counted, variable, auxiliary), others)
