"""Internal account of a release for its owner: facts, internal manifest and notes."""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from shoal.classes.shown import class_sizes
from shoal.engines.memory import MemoryEngine
from shoal.qualities.quality import Measured
from shoal.recoding.lost_values import on_lost_values
from shoal.release.case import Case
from shoal.release.fingerprint import fingerprint
from shoal.release.judgement import Judgement
from shoal.release.perturbation_check import perturbations
from shoal.release.perturbed import described
from shoal.release.promise import Original
from shoal.release.published import exposed_values, roles
from shoal.release.sampling import effect
from shoal.release.transformation import Transformation
from shoal.release.transformed import Transformed
from shoal.release.truthfulness import known_truth
from shoal.table.column import Column
from shoal.table.compaction import compacted
from shoal.table.formats.format import FORMATS
from shoal.table.inference import infer
from shoal.table.kind import Kind
from shoal.table.raw import Entries
from shoal.table.scale import doubles
from shoal.techniques.technique import Gives, giving
from shoal.words import counted, listed


def facts(
    case: Case,
    transformation: Transformation,
    transformed: Transformed,
    quality: Mapping[str, Measured],
    judgements: tuple[Judgement, ...],
) -> dict[str, Any]:
    """Return the facts about a release for its owner."""
    how, split = case.policy.search, [part for part in transformed.tables if part]
    return {
        "shoal": version("shoal"),
        "records": transformed.table.records,
        "suppressed": transformation.persons,
        "suppressed_records": transformation.suppressed_records,
        "classes": len(class_sizes(transformed.table)) if transformed.table.quasi else 0,
        "recoding": how.technique.kind,
        **({} if (applied := _applied(case, transformation)) is None else {"applied": applied}),
        "refined": how.refine,
        "scheme": dict(transformation.scheme),
        "records_on_levels": transformation.levels,
        "heights": transformation.heights,
        "requirements": [judgement.to_dict() for judgement in judgements],
        "quality": {
            name: {"value": measured.total.value, "cost": measured.total.cost}
            for name, measured in quality.items()
            if measured.total is not None
        },
        **({} if how.target is None else {"target": how.target}),
        "outliers": {"dealt_with": how.outliers, **transformation.outliers},
        "representatives": case.show,
        "pseudonyms": [] if case.policy.pseudonyms is None else case.policy.pseudonyms.columns,
        **({} if case.policy.dates is None else {"moved_dates": case.policy.dates.columns}),
        **({"split": split} if split else {}),
        **(
            {"perturbed": perturbed} if (perturbed := described(case.policy, transformation, transformed.table)) else {}
        ),
        **_sampling(case, transformation, transformed),
        "truthful": known_truth(case.policy, transformation),
        "met": True,
        "columns": roles(transformed.table, case.policy),
    }


def _sampling(case: Case, transformation: Transformation, transformed: Transformed) -> dict[str, Any]:
    """Return the sampled share and the risks of the sample."""
    if case.policy.search.sample is None:
        return {}
    account: dict[str, Any] = {"share": case.policy.search.sample}
    records = transformed.origins()
    kept = case.given_records(records[records >= 0])
    sample = effect(case.whole, kept, case.hierarchies, transformation.scheme) if transformation.scheme else None
    for name in ("prosecutor", "journalist") if sample is not None else ():
        highest, average = getattr(sample, name)
        account[name] = {"highest": highest, "average": average}
    return {"sampling": account}


def internal(
    case: Case, transformation: Transformation, transformed: Transformed, original: Original, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the internal manifest: the facts, and the inputs needed to reproduce and verify the release."""
    return {
        **facts,
        "policy": case.policy.document(),
        "input": {
            "records": case.given.records,
            "persons": case.given.person_count,
            "fingerprint": fingerprint(case.given),
        },
        **({} if case.drawn is None else {"sample": {"records": case.table.records, "persons": case.persons}}),
        "reference": {
            name: dict(zip(map(str, column.labels().to_pylist()), original.reference[name].tolist(), strict=True))
            for name, column in original.sensitive.items()
        },
        "left_out": dict(transformed.left_out),
        "search": {name: fact for name, fact in transformation.facts.items() if name != "outliers"},
    }


def notes(
    case: Case, transformation: Transformation, transformed: Transformed, dependent: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the notes for the owner. ``dependent``: the columns whose labels depend on suppressed values."""
    return (
        *case.remarks,
        *on_lost_values(case.table, transformed.table, case.policy.perturbed),
        *_on_suppressed_values(case, transformed, dependent),
        *_on_exact_values(case, transformed),
        *_on_technique(case, transformation),
        *_on_perturbed(case),
        *_on_counting(case),
        *_on_minimality(case),
        *_on_derivable(case),
        *case.policy.search.technique.notes,
        *(transformation.split.notes if transformation.split is not None else ()),
        *_on_files(transformed),
    )


def _on_minimality(case: Case) -> Iterator[str]:
    """Yield a note if the decisions of the search tell about sensitive values."""
    exposed = exposed_values(case.policy)
    if exposed is not None and exposed["exposed"]:
        yield (
            "Requirements on sensitive values decided which groups were generalised or suppressed. This can disclose "
            "values to an adversary who knows the algorithm and the quasi-identifiers of all individuals of a group: "
            "measure it with the attack minimality, or set independent = true under [search]."
        )


def _on_derivable(case: Case) -> Iterator[str]:
    """Yield a note if the policy accepts that other columns may tell generalised values."""
    if case.policy.search.derivable:
        yield (
            f"The policy accepts that values of {listed(case.policy.search.derivable)} follow from other released "
            "columns. The classes do not protect individuals from those who compute them: measure it with the attack "
            "derived-columns."
        )


def _on_suppressed_values(case: Case, transformed: Transformed, dependent: tuple[str, ...]) -> Iterator[str]:
    """Yield notes on properties of the release that depend on suppressed values."""
    typed = [*_inferred(case, transformed)]
    if typed:
        yield (
            f"Released values of {listed(typed)} are written in a way that follows from suppressed values, such as one "
            "decimal number or text among whole numbers, and disclose that there were such values. Correct these "
            "values in the data, or read columns without intervals as text (import option text)."
        )
    if dependent:
        yield (
            f"The hierarchy of {listed(dependent)} was proposed from all values, and would have other labels without "
            "the suppressed records. Set the hierarchy explicitly to release labels that do not depend on them."
        )


def _on_exact_values(case: Case, transformed: Transformed) -> Iterator[str]:
    """Yield notes on columns that show exact values of individuals."""
    for kind in ("median", "mode"):
        exact = [name for name, shown in case.show.items() if shown == kind]
        if exact:
            yield f"The {kind} of a class is the exact value of one of its members: {listed(exact)}."
    if case.policy.dates is not None:
        dates = [column.name for column in transformed.table.columns if column.kind in {Kind.DATE, Kind.DATETIME}]
        still = [name for name in dates if name not in case.policy.dates.columns]
        if still:
            yield (
                f"Dates that are not shifted: {listed(still)}. Together with shifted dates of the same individual, "
                "they may disclose the shift."
            )


def _on_technique(case: Case, transformation: Transformation) -> Iterator[str]:
    """Yield a note if a technique that decides class by class has generalised all records alike."""
    exceeded = transformation.facts.get("exceeded")
    if exceeded is not None:
        yield (
            f'recoding = "{case.policy.search.technique.called()}" would suppress {counted(exceeded, "individual")}, '
            "more than allowed. The best scheme for all records, refined class by class, is released instead."
        )
    elif transformation.scheme and Gives.SCHEME not in case.policy.search.technique.gives:
        yield (
            "All records were generalised by one scheme (global recoding), because that costs less, or suppresses "
            f'fewer individuals, than recoding = "{case.policy.search.technique.called()}".'
        )


def _on_perturbed(case: Case) -> Iterator[str]:
    """Yield a note that names the perturbed columns."""
    perturbed = perturbations(case.table, case.policy)
    if perturbed:
        columns = ", ".join(f"{name} ({perturbation.kind})" for name, perturbation in perturbed.items())
        yield f"Perturbed columns: {columns}. Compare the release with the original to see how much they changed."


def _applied(case: Case, transformation: Transformation) -> str | None:
    """Return the technique that was used, if it is not that of the policy."""
    one_scheme = giving(Gives.SCHEME)[0].called()
    if "exceeded" in transformation.facts:
        return f"{one_scheme}, refined"
    is_other = transformation.scheme and Gives.SCHEME not in case.policy.search.technique.gives
    return one_scheme if is_other else None


def _on_counting(case: Case) -> Iterator[str]:
    """Yield notes on the unit of counting and on columns that do not count."""
    if case.table.subject is None:
        yield "No subject column is set: every record is counted as an individual."
    drawn = case.policy.drawn_quasi(case.given)
    if drawn:
        yield (
            f"Requirements on classes, and the information loss, do not include {listed(drawn)}, whose values are "
            "drawn at random. Attacks measure their protection."
        )
    if case.leaders:
        yield f"Linked columns are not included in the information loss: {', '.join(case.leaders)}."


def _on_files(transformed: Transformed) -> Iterator[str]:
    """Yield notes on the use of the released files."""
    yield from _split(transformed)
    formulas = [column.name for column in transformed.table.columns if column.has_formulas]
    if formulas:
        yield (
            f"Spreadsheets would execute text of {listed(formulas)} as formulas. Import the release as text instead of "
            "opening it by a double click."
        )


def _split(transformed: Transformed) -> Iterator[str]:
    """Yield a note if the table is split, with the names of the tables and the column that links them."""
    if len(transformed.tables) > 1:
        names = [f"release.{part}" if part else "release" for part in transformed.tables]
        yield f"The table is split into {listed(names)}, linked by column '{transformed.link}'."
        yield (
            "What can be learned from the relation of values to other columns is not limited by the requirements. "
            "Measure it with the attack bucket-inference."
        )


def _inferred(case: Case, transformed: Transformed) -> Iterator[str]:
    """Yield the released columns whose kind was inferred from values that occur in suppressed records only."""
    given, origin = case.given, case.given.source.origin
    kinds = FORMATS[origin].infers if origin in FORMATS else frozenset()
    if not kinds or not isinstance(given.engine, MemoryEngine) or transformed.table.records >= given.records:
        return
    records = case.given_records(transformed.origins())
    kept = records[records >= 0]
    for name in transformed.table.names:
        if name in given and name not in case.policy.data.read.text and given[name].kind in kinds:
            left = compacted(given[name], given.codes(name)[kept])[0]
            if len(left.values) and _is_wide(left) and not _is_wide(given[name]):
                yield name


def _is_wide(column: Column) -> bool:
    """Return whether a narrower kind would have been inferred from the values of a column."""
    if column.kind is Kind.NUMBER:
        values = doubles(column.values).to_numpy(zero_copy_only=False)
        return bool((values == np.floor(values)).all())
    return column.kind is Kind.TEXT and infer(Entries.read(Kind.TEXT, column.values)).kind is not Kind.TEXT
