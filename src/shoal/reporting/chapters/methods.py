"""Chapter on methods and their sources."""

import re
from collections.abc import Iterable, Iterator, Sequence

from shoal.attacks.attack import ATTACKS
from shoal.models.model import MODELS
from shoal.perturbations.perturbation import PERTURBATIONS
from shoal.presets.preset import PRESETS
from shoal.qualities.quality import QUALITIES
from shoal.release.judgement import Guarantee
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.dataset_findings import DatasetFindings
from shoal.reporting.document import Facts, Section
from shoal.reporting.findings import Findings, PublicFindings
from shoal.separation.separation import Separation
from shoal.sheet import Sheet

_HEADINGS = (
    ("EMA Policy 0070, Health Canada PRCI", "direct and quasi-identifiers", "Data and variables"),
    ("", "adversaries and plausible attacks", "Context; Attacks"),
    ("", "anonymisation techniques, by variable", "Transformation of each variable"),
    ("", "threshold and risk of re-identification", "Risk"),
    ("", "data utility considerations", "Data utility"),
    ("", "conclusion", "Conclusion and sign-off"),
    ("WP216 (Opinion 05/2014)", "singling out, linkability, inference", "Attacks"),
    ("ISO/IEC 27559", "context assessment", "Context"),
    ("", "data assessment", "Data and variables"),
    (
        "",
        "identifiability assessment and mitigation",
        "Risk; Attacks; Transformation of each variable",
    ),
    ("", "governance", "Limitations; Conclusion and sign-off"),
    ("HIPAA expert determination", "methods and results of the analysis", "this document"),
)


@chapter("methods", place=120, whole=True)
def methods(findings: PublicFindings | DatasetFindings, audience: Audience) -> Section:
    """Explain every measure used in the report by its definition."""
    attacked = [found.attacks for found in findings.by_table.values() if found.attacks is not None]
    uncountable = not all(found.countable for found in findings.by_table.values())
    hidden = [
        *(["Attacks"] if audience.external and not attacked else []),
        *(["Risk"] if audience.external and uncountable else []),
    ]
    guide = Sheet(
        "Contents required by regulations and standards",
        ("source", "required content", "chapter"),
        tuple((source, content, _only_internal(chapters, hidden)) for source, content, chapters in _HEADINGS),
        words=3,
    )
    models, limited = _asked(findings, Guarantee.VERIFIED), _asked(findings, Guarantee.MEASURED)
    tried = {result.attack for each in attacked for result in each.results}
    measured = set().union(*(_measured(found) for found in findings.by_table.values()))
    perturbed = [
        column.perturb.kind
        for found in findings.by_table.values()
        for column in found.policy.columns.values()
        if column.perturb is not None
    ]
    parts = [
        _part("Presets", "presets", _presets(findings)),
        _part("Requirements", "models", ((name, explained(MODELS[name])) for name in sorted(models & {*MODELS}))),
        _part("Form of the release", "forms", ((form.kind, explained(type(form))) for form in _forms(findings))),
        _part("Quality measures", "qualities", ((name, explained(QUALITIES[name])) for name in sorted(measured))),
        _part(
            "Perturbations", "perturbed", ((kind, explained(PERTURBATIONS[kind])) for kind in sorted(set(perturbed)))
        ),
        _part(
            "Attacks",
            "tried",
            ((name, explained(ATTACKS[name])) for name in sorted(tried | limited)),
        ),
    ]
    return Section.of("Methods and sources", "methods", [guide, *parts])


def _forms(findings: PublicFindings | DatasetFindings) -> list[Separation]:
    """Return the forms of the release in several tables, if there is any."""
    return [found.split.form for found in findings.by_table.values() if found.split is not None]


def _measured(findings: PublicFindings) -> set[str]:
    """Return the names of the quality measures of a table."""
    return set(findings.quality) if isinstance(findings, Findings) else {findings.policy.search.quality}


def _only_internal(chapters: str, hidden: Sequence[str]) -> str:
    """Return chapters with a remark on those whose figures are in the internal report only.

    >>> _only_internal("Context; Attacks", ["Attacks"]), _only_internal("Risk", [])
    ('Context; Attacks (internal report)', 'Risk')
    """
    names = chapters.split("; ")
    return "; ".join(f"{name} (internal report)" if name in hidden else name for name in names)


def _asked(findings: PublicFindings | DatasetFindings, guarantee: Guarantee) -> set[str]:
    """Return the names of the requirements with the given kind of evidence."""
    required = [requirement for requirement in findings.requirements if requirement.guarantee is guarantee]
    return {requirement.title.partition(" of ")[0] for requirement in required}


def _part(title: str, anchor: str, items: Iterable[tuple[str, str]]) -> Section | None:
    definitions = tuple(items)
    return Section(title, f"methods-{anchor}", (Facts(definitions),)) if definitions else None


def _presets(findings: PublicFindings | DatasetFindings) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(
        requirement.source for requirement in findings.requirements if requirement.source != "policy"
    ):
        preset = PRESETS[name]
        yield name, f"{preset.title}. {preset.source} ({preset.year}). Adversary: {preset.adversary}. {preset.note}"


def explained(thing: object) -> str:
    """Return the documentation of a model, measure or attack, without its examples.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> explained(KAnonymity).partition(".")[0]
    'Every individual shares the quasi-identifiers with at least k − 1 others'
    """
    text = (thing.__doc__ or "").partition(">>>")[0]
    named = re.sub(r"``([a-z_]+)``", r"‘\1’", text)  # parameters; formulas need no quotes
    return re.sub(r"\s+", " ", named.replace("``", "")).strip()
