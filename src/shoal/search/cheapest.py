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
        prices, held = self.objective.of_all(), list[int]()
        witnesses = Witnesses(judge.scan, prices, judge.size)
        try:
            self.progress(Progress(so_far(np.inf), 0, len(self.space)))
            for scheme in witnesses.holding(CLOSE):
                held += [] if scheme is None else [scheme]
                best = prices[held].min() if held else np.inf
                self.progress(Progress(so_far(best), witnesses.decided, len(self.space)))
        finally:  # who stops it is told what was found until then
            self._enter_cheapest(contest, np.array(sorted(held), np.intp), prices)
        return Outcome(contest.best(), witnesses.looked_at, len(self.space))

    def _enter_cheapest(self, contest: Contest, held: Places, prices: Floats) -> None:
        if len(held):
            least = prices[held].min()
            self._entered(contest, held[prices[held] <= least + CLOSE * abs(least)])
