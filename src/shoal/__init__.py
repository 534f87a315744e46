"""shoal: health data from the raw table to a release its owner can defend."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import charts, demo, errors
    from shoal.anonymization import anonymize, frontier, schemes
    from shoal.assessment import Assessment, assess
    from shoal.battery import attack
    from shoal.comparison import Comparison, compare
    from shoal.dataset.anonymization import anonymize_dataset
    from shoal.errors import ShoalError
    from shoal.identification.also_known import also_known
    from shoal.identification.dimension import dimension
    from shoal.identification.found import identify
    from shoal.peering import peers
    from shoal.plain import measures
    from shoal.planning import plan
    from shoal.policy.policy import Policy
    from shoal.release.mapping import ValueMap
    from shoal.release.release import Release
    from shoal.reporting.report import Report, report
    from shoal.table.reading import read
    from shoal.table.table import Table
    from shoal.table.writing import write

__version__ = "0.1.0"

# Names come from their modules when they are first used: numpy and Arrow cost more than a whole --help.
_HOMES = {
    "Assessment": "shoal.assessment",
    "Comparison": "shoal.comparison",
    "Policy": "shoal.policy.policy",
    "Release": "shoal.release.release",
    "Report": "shoal.reporting.report",
    "ShoalError": "shoal.errors",
    "Table": "shoal.table.table",
    "ValueMap": "shoal.release.mapping",
    "anonymize": "shoal.anonymization",
    "anonymize_dataset": "shoal.dataset.anonymization",
    "assess": "shoal.assessment",
    "also_known": "shoal.identification.also_known",
    "attack": "shoal.battery",
    "compare": "shoal.comparison",
    "dimension": "shoal.identification.dimension",
    "frontier": "shoal.anonymization",
    "identify": "shoal.identification.found",
    "measures": "shoal.plain",
    "peers": "shoal.peering",
    "plan": "shoal.planning",
    "read": "shoal.table.reading",
    "report": "shoal.reporting.report",
    "schemes": "shoal.anonymization",
    "write": "shoal.table.writing",
}
_ROOMS = {"charts", "demo", "errors"}

__all__ = [
    "Assessment",
    "Comparison",
    "Policy",
    "Release",
    "Report",
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
    measures = {} if known else import_module("shoal.plain").functions()
    if name not in measures:
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")
    return measures[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *import_module("shoal.plain").functions()})
