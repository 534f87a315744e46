"""The cheapest scheme that meets the requirements without suppression.

Without suppression the levels alone determine the cost of a scheme, so all costs are known in advance, and only the
requirements remain to be checked. A scheme that fails contains a row whose class is too small, and that row rules out
most of the other schemes that fail.
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
    """Searches for schemes in which all classes meet the minimum size.

    ``witnesses``: the witness search, which ranks schemes by the sum of their column costs. ``whole``: converts such
    sums to costs.
    """

    witnesses: Witnesses
    whole: Callable[[Floats], Floats]

    def _found(self, contest: Contest) -> Outcome:
        witnesses, places, best = self.witnesses, list[int](), np.inf
        try:
            self._tell(best)
            for scheme in witnesses.holding(2 * CLOSE):  # equal sums may differ by the order of rounding
                if scheme is not None:
                    places.append(scheme)
                    best = min(best, float(self._prices([scheme])[0]))
                self._tell(best)
        finally:  # an interrupted search still reports its best scheme
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
