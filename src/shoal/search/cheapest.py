"""The cheapest scheme that holds, where nobody may be suppressed.

Then the levels alone say what a scheme costs, so all prices are known beforehand, and it only has to be found out which
schemes hold. One that fails has a row with too little company, and that row rules out most of the others that fail.
"""

from dataclasses import dataclass

import numpy as np

from shoal.kernels.witness import Witnesses
from shoal.progress import Progress
from shoal.recoding.nodes import Floats
from shoal.search.evaluation import BySize
from shoal.search.objective import LevelObjective
from shoal.search.optimum import CLOSE, Contest, Outcome, Places, Searching, so_far


@dataclass(eq=False)
class Cheapest(Searching):
    """Looks for schemes all of whose classes are large enough: levels tell what they cost."""

    def _found(self, contest: Contest) -> Outcome:
        judge = self.evaluators[0]
        if not isinstance(judge, BySize) or not isinstance(self.objective, LevelObjective):
            raise TypeError("levels do not tell what schemes cost, or sizes of classes whether they will do")
        sums, held, best = self.objective.sums(), list[int](), np.inf
        witnesses = Witnesses(judge.scan, sums, judge.size)
        try:
            self.progress(Progress(so_far(best), 0, len(self.space)))
            for scheme in witnesses.holding(2 * CLOSE):  # prices that are the same may have sums a little further apart
                if scheme is not None:
                    held.append(scheme)
                    best = min(best, float(self.objective.whole(sums[scheme])))
                self.progress(Progress(so_far(best), witnesses.decided, len(self.space)))
        finally:  # who stops it is told what was found until then
            found = np.array(sorted(held), np.intp)
            self._enter_cheapest(contest, found, self.objective.whole(sums[found]))
        return Outcome(contest.best(), witnesses.looked_at, len(self.space))

    def _enter_cheapest(self, contest: Contest, held: Places, prices: Floats) -> None:
        if len(held):
            least = prices.min()
            self._entered(contest, held[prices <= least + CLOSE * abs(least)])
