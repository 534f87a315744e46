"""shoal: health data from the raw table to a release its owner can defend."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

__version__ = "0.1.0"

# Names are imported from their modules on first use: importing numpy and Arrow takes longer than a whole --help. Type
# checkers read __init__.pyi, which stub.py generates.
_HOMES = {
    "Advice": "shoal.release.advice",
    "AlsoKnown": "shoal.identification.also_known",
    "Assessment": "shoal.risk.assessment",
    "Attacked": "shoal.attacks.battery",
    "Comparison": "shoal.analyses.comparison",
    "Dataset": "shoal.dataset.dataset",
    "DatasetIdentification": "shoal.identification.of_dataset",
    "DatasetResult": "shoal.dataset.result",
    "Dimension": "shoal.identification.dimension",
    "FormComparison": "shoal.analyses.form_comparison",
    "Frontier": "shoal.search.frontier",
    "Identification": "shoal.identification.identification",
    "People": "shoal.individuals.people",
    "Plan": "shoal.search.workload",
    "Policy": "shoal.policy.policy",
    "QueryError": "shoal.analyses.count_queries",
    "Release": "shoal.release.release",
    "Report": "shoal.reporting.report",
    "Schemes": "shoal.search.schemes",
    "ShoalError": "shoal.errors",
    "Table": "shoal.table.table",
    "TechniqueComparison": "shoal.analyses.technique_comparison",
    "ValueMap": "shoal.release.mapping",
    "report": "shoal.reporting.report",
    **{
        verb: f"shoal.verbs.{verb}"
        for verb in (
            *(
                "advise",
                "also_known",
                "anonymize",
                "assess",
                "attack",
                "compare",
                "compare_forms",
                "compare_techniques",
                "dimension",
                "frontier",
            ),
            *("identify", "measures", "peers", "plan", "query_error", "read", "schemes", "write"),
        )
    },
}
_ROOMS = {"charts", "demo", "errors"}

__all__ = [
    "Advice",
    "AlsoKnown",
    "Assessment",
    "Attacked",
    "Comparison",
    "Dataset",
    "DatasetIdentification",
    "DatasetResult",
    "Dimension",
    "FormComparison",
    "Frontier",
    "Identification",
    "People",
    "Plan",
    "Policy",
    "QueryError",
    "Release",
    "Report",
    "Schemes",
    "ShoalError",
    "Table",
    "TechniqueComparison",
    "ValueMap",
    "__version__",
    "advise",
    "also_known",
    "anonymize",
    "assess",
    "attack",
    "charts",
    "compare",
    "compare_forms",
    "compare_techniques",
    "demo",
    "dimension",
    "errors",
    "frontier",
    "identify",
    "measures",
    "peers",
    "plan",
    "query_error",
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
    # Subpackages are found by the import system, which asks here first. Other names may be functions of privacy models.
    known = name.startswith("_") or find_spec(f"shoal.{name}") is not None
    measures = {} if known else import_module("shoal.verbs.measures").functions()
    if name not in measures:
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")
    return measures[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *import_module("shoal.verbs.measures").functions()})
