"""Analyses of ``shoal compare``: learning, regression, survival and subgroups."""

from dataclasses import asdict, dataclass
from math import exp
from typing import TYPE_CHECKING, Any

from shoal.cli.output import grid, plain, progress_bar
from shoal.errors import RecodingError
from shoal.remedy import Option
from shoal.words import counted, share, short

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.analyses.comparison import Comparison
    from shoal.analyses.estimate import Estimate
    from shoal.analyses.learning import Learned
    from shoal.analyses.regression import Regressed
    from shoal.analyses.subgroups import Subgroup
    from shoal.analyses.survival import Curves
    from shoal.table.table import Table


@dataclass(frozen=True, slots=True)
class Asked:
    """Requested analyses."""

    learn: str | None
    outcome: str | None
    time: str | None
    event: str | None
    by: str | None
    on: list[str] | None
    subgroups: list[str] | None
    model: str
    seed: int
    where: str | None = None

    def __post_init__(self) -> None:
        if self.outcome and not self.on:
            raise RecodingError(
                "incomplete-analysis", "A regression requires explanatory columns.", remedy=Option("on", ["age", "sex"])
            )
        if (self.time is None) != (self.event is None):
            raise RecodingError(
                "incomplete-analysis",
                "Survival analysis requires a time and an event.",
                remedy="Add --event, for example --event died or --event status=2." if self.time else "Add --time.",
            )
        if self.by and not self.time:
            raise RecodingError(
                "incomplete-analysis", "--by requires a survival analysis.", remedy="Add --time and --event."
            )
        if self.on and not (self.learn or self.outcome or self.time):
            raise RecodingError(
                "incomplete-analysis",
                "--on requires an analysis.",
                remedy="Add --learn, --outcome, or --time and --event.",
            )
        from shoal.analyses.learner import LEARNERS

        if self.model not in LEARNERS:
            raise RecodingError(
                "unknown-model",
                "There is no learning model '{model}'.",
                remedy="Choose one of {models}.",
                model=self.model,
                models=", ".join(LEARNERS),
            )

    def check(self, table: "Table") -> None:
        """Refuse columns and values that the original does not have, before anything is computed."""
        from shoal.analyses.condition import Condition

        plain_names = [self.learn, self.time, self.by, *(self.on or ()), *(self.subgroups or ())]
        for name in plain_names:
            if name is not None:
                table[name]  # raises if there is no such column
        for text in (self.event, self.outcome, self.where):
            if text is None or text in table:
                continue
            condition = Condition.of(text)
            column = table[condition.column]
            if condition.value is not None:
                condition.codes(column)
        if self.where is not None:
            Condition.of_filter(self.where)
        if self.event is not None and self.event in table and len(table[self.event].values) != 2:
            raise RecodingError(
                "not-binary",
                "The event '{column}' has {values:value}, such as competing events.",
                remedy="Name the value that is the event: --event {column}=VALUE. All other values count as censored.",
                column=self.event,
                values=len(table[self.event].values),
            )


@dataclass(frozen=True, slots=True)
class Done:
    """Results of the analyses."""

    learned: "Learned | None"
    regressed: "tuple[Regressed, ...]"
    curves: "tuple[Curves, ...]"
    by: str | None
    subgroups: "tuple[Subgroup, ...]"

    @property
    def any(self) -> bool:
        """Whether there is any result."""
        return bool(self.learned or self.regressed or self.curves or self.subgroups)


def analyse(comparison: "Comparison", asked: Asked) -> Done:
    """Run the requested analyses."""
    comparison = comparison if asked.where is None else comparison.where(asked.where)
    regressed = []
    if asked.outcome and asked.on:
        regressed.append(comparison.regression(asked.outcome, asked.on))
    if asked.time and asked.event and asked.on:
        regressed.append(comparison.hazards(asked.time, asked.event, asked.on))
    learned = None
    if asked.learn:
        model: Any = asked.model
        with progress_bar() as hook:
            learned = comparison.learning(asked.learn, asked.on, model=model, seed=asked.seed, progress=hook)
    curves = comparison.survival(asked.time, asked.event, asked.by) if asked.time and asked.event else []
    groups = [group for column in asked.subgroups or () for group in comparison.subgroups(column)]
    return Done(learned, tuple(regressed), tuple(curves), asked.by, tuple(groups))


def result(done: Done) -> dict[str, Any]:
    """Return the analyses as plain data."""
    return {
        "learning": {**asdict(done.learned), "skill": done.learned.skill} if done.learned else None,
        "regressions": [
            {
                **asdict(regressed),
                "overlap": regressed.overlap,
                "coefficients": [
                    {**asdict(part), "overlap": part.overlap, "same_conclusion": part.same_conclusion}
                    for part in regressed.coefficients
                ],
            }
            for regressed in done.regressed
        ],
        "survival": [
            {
                "group": curve.group,
                "largest_gap": curve.largest_gap,
                "median": {"before": curve.before.median, "after": curve.after.median if curve.after else None},
                "records": {"before": curve.before.records, "after": curve.after.records if curve.after else 0},
            }
            for curve in done.curves
        ],
        "subgroups": [{**asdict(subgroup), "differs": subgroup.differs} for subgroup in done.subgroups],
    }


def show(done: Done, out: "Console") -> None:
    """Print the analyses."""
    if done.learned:
        _show_learned(done.learned, out)
    for regressed in done.regressed:
        _show_regressed(regressed, out)
    if done.curves:
        _show_curves(done.curves, done.by, out)
    if done.subgroups:
        _show_subgroups(done.subgroups, out)


def _show_learned(learned: "Learned", out: "Console") -> None:
    out.print(
        f"\n[bold]Prediction of {plain(learned.target)}[/bold]  "
        f"[dim]{learned.model}, tested on individuals outside the training data[/dim]"
    )
    sheet = grid("", learned.measure_title, "95% CI")
    rows = (("trained on the original", learned.before), ("trained on the release", learned.after))
    for name, estimate in (*rows, ("difference", learned.difference)):
        sheet.add_row(f"  {name}", short(estimate.value), _interval(estimate))
    sheet.add_row("  [dim]baseline: the most frequent value, or the mean of numbers[/dim]", short(learned.baseline), "")
    out.print(sheet)
    if learned.skill is not None:
        out.print(f"  Retained predictive skill: {share(learned.skill)} (share of the gain over the baseline).")
    if learned.auc is not None:
        before, after = (f"{short(part.value)} ({short(part.low)} to {short(part.high)})" for part in learned.auc)
        out.print(rf"  [dim]Area under the ROC curve (95% CI): {plain(before)} before, {plain(after)} after.[/dim]")


def _show_regressed(regressed: "Regressed", out: "Console") -> None:
    about = {"linear": "coefficients", "logistic": "odds ratios", "cox": "hazard ratios"}[regressed.kind]
    out.print(
        f"\n[bold]{about.capitalize()} for {plain(regressed.outcome)}[/bold]  "
        f"[dim]average overlap of the confidence intervals: {share(regressed.overlap)}[/dim]"
    )
    sheet = grid("", "before", "95% CI", "after", "95% CI", "overlap")
    for part in regressed.coefficients:
        before, after = _ratio(part.before, regressed.kind), _ratio(part.after, regressed.kind) if part.after else None
        agree = "–" if part.overlap is None else share(max(part.overlap, 0))
        mark = "" if part.same_conclusion else " [red]≠[/red]"
        shown = (short(after.value), _interval(after)) if after else ("–", "")
        sheet.add_row(f"  {plain(part.term)}", short(before.value), _interval(before), *shown, agree + mark)
    out.print(sheet)
    out.print(f"  [dim]from {counted(regressed.records_before, 'record')} before, {regressed.records_after:,} after; "
              "≠: significance differs[/dim]")  # fmt: skip


def _ratio(estimate: "Estimate", kind: str) -> "Estimate":
    from shoal.analyses.estimate import Estimate

    if kind == "linear":
        return estimate
    return Estimate(*(exp(min(number, 700)) for number in (estimate.value, estimate.low, estimate.high)))


def _interval(estimate: "Estimate") -> str:
    return f"[dim]{short(estimate.low)} to {short(estimate.high)}[/dim]"


def _show_curves(curves: "tuple[Curves, ...]", by: str | None, out: "Console") -> None:
    out.print("\n[bold]Survival[/bold]  [dim]Kaplan–Meier, before and after[/dim]")
    sheet = grid(
        f"  {plain(by or '')}", "records before", "median", "records after", "median", "max. difference of S(t)"
    )
    for curve in curves:
        after = curve.after
        shown = (f"{after.records:,}", _median(after.median)) if after else ("0", "–")
        gap = "–" if curve.largest_gap is None else short(curve.largest_gap)
        sheet.add_row(f"  {plain(curve.group)}", f"{curve.before.records:,}", _median(curve.before.median), *shown, gap)
    out.print(sheet)


def _median(value: float | None) -> str:
    return "–" if value is None else f"{value:,.6g}"


def _show_subgroups(groups: "tuple[Subgroup, ...]", out: "Console") -> None:
    out.print("\n[bold]Suppression by subgroup[/bold]  [dim]≠: differs significantly from the overall rate[/dim]")
    sheet = grid("", "records", "suppressed", "95% CI", "share before", "share after")
    for group in groups:
        mark = " [red]≠[/red]" if group.differs else ""
        sheet.add_row(
            f"  {plain(group.column)} {plain(group.label)}",
            f"{group.records:,}",
            f"{share(group.suppressed.value)}{mark}",
            f"[dim]{share(group.suppressed.low)} to {share(group.suppressed.high)}[/dim]",
            share(group.share_before),
            share(group.share_after),
        )
    out.print(sheet)
    out.print(f"  [dim]Of all records {share(groups[0].overall)} were suppressed.[/dim]")
