"""The cheapest scheme that holds, where nobody may be suppressed.

Then the levels alone say what a scheme costs, so all prices are known beforehand, and it only has to be found out which
schemes hold. One that fails has a row with too little company, and that row rules out most of the others that fail.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.kernels.witness import Witnesses
from shoal.progress import Progress
from shoal.recoding.nodes import Floats
from shoal.search.optimum import CLOSE, Contest, Outcome, Places, Searching, so_far


@dataclass(eq=False)
class Cheapest(Searching):
    """Looks for schemes all of whose classes are large enough.

    ``witnesses``: these take for prices what the columns of schemes add up to; ``whole``: tells what that costs.
    """

    witnesses: Witnesses
    whole: Callable[[Floats], Floats]

    def _found(self, contest: Contest) -> Outcome:
        witnesses, places, best = self.witnesses, list[int](), np.inf
        try:
            self._tell(best)
            for scheme in witnesses.holding(2 * CLOSE):  # sums of the same columns may be rounded in another order
                if scheme is not None:
                    places.append(scheme)
                    best = min(best, float(self._prices([scheme])[0]))
                self._tell(best)
        finally:  # who stops it is told what was found until then
            self._enter_cheapest(contest, np.array(sorted(places), np.intp))
        return Outcome(contest.best(), witnesses.looked_at, len(self.space))

    def _tell(self, best: float) -> None:
        self.progress(Progress(so_far(best), self.witnesses.decided, len(self.space)))

    def _prices(self, schemes: Places | list[int]) -> Floats:
        return self.whole(self.witnesses.prices[schemes])

    def _enter_cheapest(self, contest: Contest, places: Places) -> None:
        if len(places):
            prices = self._prices(places)
            least = prices.min()
            self._entered(contest, places[prices <= least + CLOSE * abs(least)])
