"""Comparison of forms: one table or several, at the same probability of a sensitive value."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from shoal.analyses.count_queries import QueryError
from shoal.analyses.estimate import Estimate
from shoal.sheet import Presentable, Sheet
from shoal.table.frames import of_rows
from shoal.words import counted, share


@dataclass(frozen=True, slots=True, kw_only=True)
class FormFigures:
    """What one form of a release keeps, and what an adversary learns from it.

    ``form``: its name; ``technique``: how quasi-identifiers are generalised; None if they are not. ``tables``: the
    number of released tables. ``suppressed``: the number of suppressed individuals. ``unique``: the number of
    individuals who are unique in the released quasi-identifiers; None if no table contains all of them. ``error``: the
    relative error of count queries. ``inferred``: the share of sensitive values that an adversary guesses who learns
    from the release. ``control``: the same if there is nothing to learn.
    """

    form: str
    technique: str | None
    tables: int
    suppressed: int
    unique: int | None
    error: QueryError
    inferred: Estimate
    control: float | None

    @property
    def title(self) -> str:
        """The form with the technique of generalisation."""
        return self.form if self.technique is None else f"{self.form} ({self.technique})"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        names = ("form", "technique", "tables", "suppressed", "unique", "control")
        return {
            **{name: getattr(self, name) for name in names},
            "error": self.error.to_dict(),
            "inferred": asdict(self.inferred),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FormComparison(Presentable):
    """Forms of a release with the same l: the result of ``compare_forms``.

    ``persons``: the number of individuals. ``column``: the sensitive column. ``l``: the probability of a value of the
    column is at most 1/l for an adversary who learns nothing. ``guessed``: the share of values that a model of other
    individuals guesses without the release. ``figures``: one entry per form. ``left_out``: the forms that are not
    possible, and the reason.
    """

    __module__ = "shoal"

    persons: int
    column: str
    l: int  # noqa: E741 - the name in the literature
    guessed: float
    figures: tuple[FormFigures, ...]
    left_out: Mapping[str, str]
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "persons": self.persons,
            "column": self.column,
            "l": self.l,
            "guessed": self.guessed,
            "forms": [each.to_dict() for each in self.figures],
            "left_out": dict(self.left_out),
            "seed": self.seed,
        }

    def to_frame(self, kind: str | None = None) -> Any:
        """Return one row per form; of intervals, the value and both ends."""
        rows = []
        for each in self.figures:
            row = each.to_dict()
            error, inferred = row.pop("error"), row.pop("inferred")
            row |= {"median_error": error["median"], "inferred": inferred["value"]}
            rows.append({**row, "inferred_at_least": inferred["low"], "inferred_at_most": inferred["high"]})
        return of_rows(rows, kind)

    def sheet(self) -> Sheet:
        """Return one row per form."""
        rows = tuple(
            (
                each.title,
                str(each.tables),
                share(each.error.median),
                f"{share(each.inferred.value)} ({share(each.inferred.low)}–{share(each.inferred.high)})",
                "–" if each.control is None else share(each.control),
                "–" if each.unique is None else f"{each.unique:,}",
                f"{each.suppressed:,}",
            )
            for each in self.figures
        )
        title = f"Forms of a release with l = {self.l} for '{self.column}' ({self.persons:,} individuals)"
        headings = ("form", "tables", "median error", "guessed", "control", "unique", "suppressed")
        return Sheet(title, headings, rows, tuple(self.notes()))

    def notes(self) -> Iterator[str]:
        """Yield what the figures mean, and which forms are not possible."""
        if self.figures:
            queries = counted(len(self.figures[0].error.errors), "random count query")
            yield f"Median error: relative error of {queries}, estimated from the release."
            yield (
                f"Guessed: values of '{self.column}' that an adversary guesses who learns from the release "
                f"(bucket-inference). Without learning, no value of a record exceeds {share(1 / self.l)}. "
                "Control: the share guessed where nothing can be learned. A model of other individuals guesses "
                f"{share(self.guessed)} without the release."
            )
            yield "Unique: individuals who are unique in the released quasi-identifiers."
        for form, reason in self.left_out.items():
            yield f"Not possible: {form}. {reason}"
