"""The cheapest scheme that holds, where nobody may be suppressed.

Then the levels alone say what a scheme costs, so all prices are known beforehand, and it only has to be found out which
schemes hold. One that fails has a row with too little company, and that row rules out most of the others that fail.
"""

from dataclasses import dataclass

from shoal.kernels.witness import Witnesses
from shoal.progress import Progress
from shoal.search.evaluation import BySize
from shoal.search.objective import LevelObjective
from shoal.search.optimum import CLOSE, Contest, Outcome, Searching, so_far


@dataclass(eq=False)
class Cheapest(Searching):
    """Looks for schemes all of whose classes are large enough: levels tell what they cost."""

    def _found(self, contest: Contest) -> Outcome:
        self.progress(Progress(so_far(contest.price), 0, len(self.space)))
        judge = self.evaluators[0]
        if not isinstance(judge, BySize) or not isinstance(self.objective, LevelObjective):
            raise TypeError("levels do not tell what schemes cost, or sizes of classes whether they will do")
        witnesses = Witnesses(judge.scan, self.objective.of_all(), judge.size)
        self._entered(contest, witnesses.cheapest(CLOSE))
        return Outcome(contest.best(), witnesses.looked_at, len(self.space))
