"""Comparison of techniques: what each costs, and what adversaries still achieve, at comparable risk."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shoal.analyses.estimate import Estimate
from shoal.analyses.learning import Learned
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_rows
from shoal.words import share, short

CLOSE = 0.1  # standard deviations within which an adversary's number counts as known


@dataclass(frozen=True, slots=True, kw_only=True)
class TechniqueFigures:
    """What one technique costs, and what adversaries achieve. A figure is None if it does not apply.

    ``amount``: the smallest amount of perturbation for which the limit is met. ``is_true``: whether every released
    value is true. ``guarantee``: the kind of evidence for the protection. ``suppressed``: the number of suppressed
    individuals. ``loss``: the information loss of generalised columns, from 0 to 1. ``error``: the mean absolute change
    of the known numbers, in √2 standard deviations; an interval counts as its midpoint. ``correlations``: the mean
    absolute change of the correlations. ``learned``: the performance of a model trained on the release. ``gap``: the
    largest gap between survival curves. ``linked``: the share of individuals who are re-identified by the better of two
    attacks. ``close``: the share of individuals whose known numbers all lie within 0.1 standard deviations of the true
    ones. ``inferred``, ``guessed``: correct guesses of a value of the sensitive column ``about``, with
    and without the release.
    """

    technique: str
    amount: float | None
    is_true: bool
    guarantee: str
    suppressed: int
    loss: float | None
    error: float | None
    correlations: float | None
    learned: Learned | None
    gap: float | None
    linked: Estimate
    close: float | None
    inferred: float | None
    guessed: float | None
    about: str | None = None

    @property
    def title(self) -> str:
        """The technique with its amount."""
        return self.technique if self.amount is None else f"{self.technique} ({self.amount:g})"

    @property
    def trained(self) -> Estimate | None:
        """The performance of the model that was trained on the release: area under the curve if there is one."""
        return None if self.learned is None else self.learned.achieved[1]

    @property
    def measure(self) -> str:
        """The measure of the performance of the model."""
        if self.learned is None:
            return ""
        return self.learned.measure_title if self.learned.auc is None else "area under the ROC curve"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        names = ("technique", "amount", "is_true", "guarantee", "suppressed", "loss", "error", "correlations", "gap")
        return {
            **{name: getattr(self, name) for name in names},
            "learned": None if self.trained is None else asdict(self.trained),
            "linked": asdict(self.linked),
            **{name: getattr(self, name) for name in ("close", "inferred", "guessed", "about")},
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TechniqueComparison(Presentable):
    """One table treated by several techniques at comparable risk: the result of ``compare_techniques``.

    ``persons``: the number of individuals. ``required``: what techniques that generalise meet, in words. ``limit``: the
    largest upper end of the linkage rate that techniques that perturb are allowed. ``target``: the predicted column.
    ``survival``: the columns of the survival analysis. ``figures``: one entry per technique. ``left_out``: the
    techniques that are not possible, and the reason.
    """

    __module__ = "shoal"

    persons: int
    required: str
    limit: float
    figures: tuple[TechniqueFigures, ...]
    left_out: Mapping[str, str]
    target: str | None = None
    survival: tuple[str, ...] = ()
    seed: int = 0

    @property
    def original(self) -> Estimate | None:
        """The performance of the model that was trained on the original."""
        learned = next((each.learned for each in self.figures if each.learned is not None), None)
        return None if learned is None else learned.achieved[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "persons": self.persons,
            "required": self.required,
            "limit": self.limit,
            "target": self.target,
            "survival": list(self.survival),
            "original": None if self.original is None else asdict(self.original),
            "techniques": [each.to_dict() for each in self.figures],
            "left_out": dict(self.left_out),
            "seed": self.seed,
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row per technique; of intervals, the value and the upper end."""
        rows = []
        for each in self.figures:
            row = each.to_dict()
            learned, linked = row.pop("learned"), row.pop("linked")
            row |= {"learned": None if learned is None else learned["value"], "linked": linked["value"]}
            rows.append({**row, "linked_at_most": linked["high"]})
        return of_rows(rows, kind)

    def sheet(self) -> Sheet:
        """Return the figures that apply to at least one technique, one row per technique."""
        columns = {heading: texts for heading, texts in self._columns().items() if {*texts} != {"–"}}
        titles = [each.title for each in self.figures]
        rows = tuple(zip(titles, *columns.values(), strict=True))
        title = f"Techniques at comparable risk ({self.persons:,} individuals)"
        return Sheet(title, ("technique", *columns), rows, tuple(self.notes()), words=3)

    def notes(self) -> Iterator[str]:
        """Yield what the figures mean, and which techniques are not possible."""
        yield (
            f"Techniques that generalise meet {self.required}. Perturbations draw all quasi-identifiers at random, by "
            f"the smallest of a few amounts (in parentheses) for which at most {share(self.limit)} are re-identified. "
            "Amount: the share of noise, the window of swapping, 1 − keep of PRAM (from 1 on, it keeps nothing)."
        )
        above = [each.title for each in self.figures if each.linked.high > self.limit]
        if above:
            yield f"More than {share(self.limit)} may be re-identified from: {', '.join(above)}."
        yield "Error: mean absolute change of known numbers, in √2 standard deviations; intervals count as midpoints."
        yield (
            f"Re-identified: by the better of two attacks (upper end of the 95% interval). Close: all known numbers "
            f"within {CLOSE} standard deviations of the true ones."
        )
        guessed = dict.fromkeys(each.about for each in self.figures if each.about is not None)
        if guessed:
            yield (
                f"Inferred: correct guesses of {', '.join(guessed)} by the nearest record. Without the release: always "
                "the most frequent value."
            )
        if self.target is not None and self.original is not None:
            measure = next(each.measure for each in self.figures if each.learned is not None)
            yield (
                f"Prediction of {self.target} ({measure}) by a model that was trained on the release. Trained on the "
                f"original: {short(self.original.value)}."
            )
        for name, why in self.left_out.items():
            yield f"Not possible: {name}. {why}"

    def _columns(self) -> dict[str, list[str]]:
        """Return the texts of each column."""
        figures = self.figures
        return {
            "values": ["true" if each.is_true else "false" for each in figures],
            "protection": [each.guarantee for each in figures],
            "suppressed": [f"{each.suppressed:,}" for each in figures],
            "loss": [_number(each.loss) for each in figures],
            "error": [_number(each.error) for each in figures],
            "correlations changed by": [_number(each.correlations) for each in figures],
            "prediction": [_number(None if each.trained is None else each.trained.value) for each in figures],
            "gap of survival": [_number(each.gap) for each in figures],
            "re-identified": [f"{share(each.linked.value)} (≤ {share(each.linked.high)})" for each in figures],
            "close": [_share(each.close) for each in figures],
            "inferred": [_share(each.inferred) for each in figures],
            "without the release": [_share(each.guessed) for each in figures],
        }


def _number(value: float | None) -> str:
    return "–" if value is None else short(value)


def _share(value: float | None) -> str:
    return "–" if value is None else share(value)
