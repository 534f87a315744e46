"""shoal: health data from the raw table to a release its owner can defend."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import charts, demo, errors
    from shoal.analyses.comparison import Comparison
    from shoal.attacks.battery import Attacked
    from shoal.dataset.release import DatasetRelease
    from shoal.errors import ShoalError
    from shoal.identification.also_known import AlsoKnown
    from shoal.identification.dimension import Dimension
    from shoal.identification.identification import Identification
    from shoal.individuals.people import People
    from shoal.policy.policy import Policy
    from shoal.release.mapping import ValueMap
    from shoal.release.release import Release
    from shoal.reporting.report import Report, report
    from shoal.risk.assessment import Assessment
    from shoal.search.frontier import Frontier
    from shoal.search.schemes import Schemes
    from shoal.search.workload import Plan
    from shoal.table.table import Table
    from shoal.verbs.also_known import also_known
    from shoal.verbs.anonymize import anonymize
    from shoal.verbs.anonymize_dataset import anonymize_dataset
    from shoal.verbs.assess import assess
    from shoal.verbs.attack import attack
    from shoal.verbs.compare import compare
    from shoal.verbs.dimension import dimension
    from shoal.verbs.frontier import frontier
    from shoal.verbs.identify import identify
    from shoal.verbs.measures import measures
    from shoal.verbs.peers import peers
    from shoal.verbs.plan import plan
    from shoal.verbs.read import read
    from shoal.verbs.schemes import schemes
    from shoal.verbs.write import write

__version__ = "0.1.0"

# Names come from their modules when they are first used: numpy and Arrow cost more than a whole --help.
_HOMES = {
    "AlsoKnown": "shoal.identification.also_known",
    "Assessment": "shoal.risk.assessment",
    "Attacked": "shoal.attacks.battery",
    "Comparison": "shoal.analyses.comparison",
    "DatasetRelease": "shoal.dataset.release",
    "Dimension": "shoal.identification.dimension",
    "Frontier": "shoal.search.frontier",
    "Identification": "shoal.identification.identification",
    "People": "shoal.individuals.people",
    "Plan": "shoal.search.workload",
    "Policy": "shoal.policy.policy",
    "Release": "shoal.release.release",
    "Report": "shoal.reporting.report",
    "Schemes": "shoal.search.schemes",
    "ShoalError": "shoal.errors",
    "Table": "shoal.table.table",
    "ValueMap": "shoal.release.mapping",
    "report": "shoal.reporting.report",
    **{
        verb: f"shoal.verbs.{verb}"
        for verb in (
            *("also_known", "anonymize", "anonymize_dataset", "assess", "attack", "compare", "dimension", "frontier"),
            *("identify", "measures", "peers", "plan", "read", "schemes", "write"),
        )
    },
}
_ROOMS = {"charts", "demo", "errors"}

__all__ = [
    "AlsoKnown",
    "Assessment",
    "Attacked",
    "Comparison",
    "DatasetRelease",
    "Dimension",
    "Frontier",
    "Identification",
    "People",
    "Plan",
    "Policy",
    "Release",
    "Report",
    "Schemes",
    "ShoalError",
    "Table",
    "ValueMap",
    "__version__",
    "also_known",
    "anonymize",
    "anonymize_dataset",
    "assess",
    "attack",
    "charts",
    "compare",
    "demo",
    "dimension",
    "errors",
    "frontier",
    "identify",
    "measures",
    "peers",
    "plan",
    "read",
    "report",
    "schemes",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"shoal.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    # A room is found by the import system, which asks here first; all else may be a privacy model's plain function.
    known = name.startswith("_") or find_spec(f"shoal.{name}") is not None
    measures = {} if known else import_module("shoal.verbs.measures").functions()
    if name not in measures:
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")
    return measures[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *import_module("shoal.verbs.measures").functions()})
