"""Person facts: what can be inferred about one person, and from which known variables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from shoal.individuals.known_events import telling_events
from shoal.individuals.question import Question
from shoal.individuals.telling import ALL, Lookalikes, Subsets, minimal
from shoal.individuals.variable import Variable
from shoal.subsets import SubsetCounts

FEW = 3  # maximum number of known variables of a combination, for one person in a wide table
WIDE = 10  # number of columns above which a table is wide if several records of the person are known


@dataclass(frozen=True, slots=True)
class PersonFacts:
    """The minimal combinations of known variables from which one variable of a person can be inferred.

    ``combination``: the most disclosive combination, with its ``ppp``.
    """

    variable: str
    ppp: float
    combination: tuple[str, ...]
    minimal: tuple[tuple[str, ...], ...]


def facts_of(
    own: Sequence[int], counts: Mapping[str, SubsetCounts], variables: Mapping[str, Variable], question: Question
) -> tuple[PersonFacts, ...]:
    """Return the facts about the person with some rows, variable by variable, the least protected first."""
    person = _Person(own, counts, question)
    return tuple(sorted(map(person.facts, variables.values()), key=lambda facts: facts.ppp))


@dataclass(frozen=True, slots=True, eq=False)
class _Person:
    """The rows of one person, among all rows. ``alike``: their peers, by rows, as variables often share these."""

    own: Sequence[int]
    counts: Mapping[str, SubsetCounts]
    question: Question
    alike: dict[int, list[Lookalikes]] = field(default_factory=dict)

    def facts(self, variable: Variable) -> PersonFacts:
        """Return the facts about one variable."""
        ppp = variable.least.ppp().floats()[list(self.own)]
        weakest = self.own[int(np.argmin(ppp))]
        names = self._names(variable)
        return PersonFacts(
            variable.name,
            float(ppp.min()),
            names(int(variable.least.subset[weakest])),
            tuple(map(names, self._minimal(variable).tolist())),
        )

    def _names(self, variable: Variable) -> Callable[[int], tuple[str, ...]]:
        columns = self.counts[variable.name].names
        return lambda subset: tuple(name for place, name in enumerate(columns) if subset >> place & 1)

    def _minimal(self, variable: Variable) -> Subsets:
        """Return the minimal combinations that disclose a variable."""
        counted, question = self.counts[variable.name], self.question
        if len(counted.columns) > (WIDE if question.events > 1 else ALL):
            question = replace(question, most=min(question.most or FEW, FEW))
        asked = np.fromiter(question.subsets(counted.subset(variable.known)), np.uint64)
        place, rows = variable.least.variable, counted.rows
        if question.events > 1:
            return telling_events(rows, self.own, place, asked, question)
        if id(rows) not in self.alike:
            self.alike[id(rows)] = [Lookalikes(rows, row) for row in self.own]
        telling = [alike.telling(place, asked, question.p) for alike in self.alike[id(rows)]]
        return minimal(np.concatenate(telling))
