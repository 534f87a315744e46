"""The cheapest scheme that holds, where nobody may be suppressed.

Then the levels alone say what a scheme costs, so all prices are known beforehand. Schemes are gone through from the
cheapest on; the first that holds is the best. One that fails has a row with too little company, and that row rules out
most of the others that fail.
"""

from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from shoal.kernels.scan import Scan
from shoal.kernels.witness import Witnesses
from shoal.progress import Progress
from shoal.search.optimum import Contest, Outcome, Searching, so_far


@dataclass(eq=False)
class Cheapest(Searching):
    """Goes from cheap to dear; a class needs ``size`` persons."""

    scan: Scan
    size: int

    def _found(self, contest: Contest) -> Outcome:
        self.progress(Progress(so_far(contest.price), 0, len(self.space)))
        schemes = np.arange(len(self.space))
        prices = self.objective.floors(self.scan.lattice.levels(schemes))
        order = np.argsort(prices, kind="stable")
        witnesses = Witnesses(self.scan, order, self.size)
        for place in takewhile(lambda place: prices[order[place]] <= contest.ceiling, witnesses):
            self._entered(contest, order[place : place + 1])
        return Outcome(contest.best(), witnesses.looked_at, len(self.space))
