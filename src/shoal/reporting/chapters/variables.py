"""Chapter on the transformation of each variable."""

from collections.abc import Iterator, Sequence

import numpy as np

from shoal.charts.ladder import ladder
from shoal.perturbations.perturbation import Perturbation
from shoal.release.part import ReleasePart
from shoal.release.truthfulness import known_truth, truth
from shoal.reporting.audience import Audience
from shoal.reporting.chapters.chapter import chapter
from shoal.reporting.document import Block, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings, PublicFindings
from shoal.sheet import Sheet
from shoal.table.role import Role
from shoal.techniques.technique import Gives, Truth
from shoal.words import share, short

MOST = 12  # maximum number of hierarchies drawn
_UNCHANGED = "released unchanged"
_SUPPRESSED = "local suppression"
_REFINED = "local generalisation (each record as little as required)"


@chapter("variables", place=40)
def variables(findings: PublicFindings, audience: Audience) -> Section:
    """Describe the transformation of each variable."""
    blocks: list[Block | None] = [Text(_lead(findings), Tone.LEAD), _done(findings), _perturbed(findings)]
    if isinstance(findings, Findings):
        blocks += [_cells(findings, audience), _levels(findings), *_ladders(findings)]
    else:
        blocks.append(_visible(findings))
    return Section.of("Transformation of each variable", "variables", blocks)


def _lead(findings: PublicFindings) -> str:
    if not findings.ours:
        inferred = " Techniques are inferred from both tables." if isinstance(findings, Findings) else ""
        return f"The way in which this release was made is not recorded.{inferred}"
    named = "Direct identifiers are replaced by pseudonyms or removed." if findings.pseudonyms else ""
    drawn = "The release is a random sample of the individuals." if findings.policy.search.sample is not None else ""
    parts = (named or "Direct identifiers are removed.", drawn, truthfulness(findings))
    return " ".join(part for part in parts if part)


def truthfulness(findings: PublicFindings) -> str:
    """Return a statement on the truthfulness of a release made by ``anonymize``; empty for other releases."""
    if isinstance(findings, Findings) and findings.part is not None:
        return known_truth(findings.policy, findings.part.transformation)
    return truth(findings.policy) if findings.ours else ""


def _done(findings: PublicFindings) -> Sheet:
    rows = [
        (name, "none" if role is None else str(role), technique(findings, name), _why(role))
        for name, role in findings.variables.items()
    ]
    notes = ("The names of techniques follow ISO/IEC 20889, where it has a term.",)
    return Sheet("Techniques", ("variable", "role", "technique", "meaning of the role"), tuple(rows), notes, words=4)


def technique(findings: PublicFindings, name: str) -> str:
    """Return the name of the technique applied to a column."""
    if name not in findings.released:
        return "removed"
    if name in findings.pseudonyms:
        return "pseudonymisation with a secret key"
    if name in findings.inherited:
        return "as in the table that the records refer to"
    how = _applied(findings, name) if findings.ours else _elsewhere(findings, name)
    split = findings.split
    if split is None or (split.holding(name) is None and not split.divides_identities):
        return how
    return split.form.iso if how == _UNCHANGED else f"{how}; {split.form.iso}"


def _applied(findings: PublicFindings, name: str) -> str:
    """Return the name of the technique that the policy applies to a column."""
    perturb = findings.policy.columns[name].perturb if name in findings.policy.columns else None
    if perturb is not None:
        is_searched = name in findings.released.quasi
        return f"{perturb.iso}; {_searched(findings, name)}" if is_searched else perturb.iso
    return _searched(findings, name)


def _searched(findings: PublicFindings, name: str) -> str:
    """Return the name of the technique by which requirements are met, for a column."""
    role, used = findings.variables.get(name), findings.policy.search.technique
    if isinstance(findings, Findings) and findings.part is not None and used.truth is not Truth.TRUE:
        changed = name in findings.part.transformation.changed
        return used.iso if changed else _as_compared(findings, name)
    if role is not Role.QUASI:
        return used.iso if role in used.touches else _UNCHANGED
    return _generalised(findings, name)


def _perturbed(findings: PublicFindings) -> Sheet | None:
    """Return the kind of perturbation of each perturbed column, and what it guarantees."""
    perturbed = {name: findings.policy.columns[name].perturb for name in findings.policy.perturbed}
    rows = [
        (name, perturb.iso, _options(perturb) or "defaults", perturb.guarantee)
        for name, perturb in perturbed.items()
        if perturb is not None and name in findings.released
    ]
    if not rows or not findings.ours:
        return None
    notes = ["Proved by the mechanism. No requirement is met by it: requirements are verified with the true values."]
    if findings.drawn_quasi:
        notes.append(findings.without_drawn)
    headings = ("variable", "operation", "options", "proved")
    return Sheet("Perturbed columns", headings, tuple(rows), tuple(notes), words=4)


def _options(perturb: Perturbation) -> str:
    """Return the options that the policy sets; of mappings, which may contain values, only their names."""
    options = {name: value for name, value in perturb.options.items() if name != "kind"}
    return ", ".join(
        f"{name} = {str(value).lower() if isinstance(value, bool) else short(value)}"
        if isinstance(value, int | float)
        else (f"{name} = {', '.join(map(str, value))}" if isinstance(value, list) else f"own {name}")
        for name, value in options.items()
    )


def _as_compared(findings: Findings, name: str) -> str:
    """Infer from the cells whether a column was generalised."""
    fates = findings.comparison.columns.get(name)
    return "generalisation" if fates is not None and fates.coarser else _UNCHANGED


def _elsewhere(findings: PublicFindings, name: str) -> str:
    """Infer from both tables whether a column was changed. A recipient has only one of the tables."""
    if not isinstance(findings, Findings):
        return "not known"
    fates = findings.comparison.columns.get(name)
    same = fates is not None and not (fates.coarser or fates.changed)
    return "released unchanged" if same else "changed; the technique is not recorded"


def _generalised(findings: PublicFindings, name: str) -> str:
    """Return the name of the technique applied to a quasi-identifier. Levels are shown to the owner only."""
    column, search = findings.policy.columns[name], findings.policy.search
    if column.show != "label":
        return f"microaggregation: a class shows the {column.show} of its members"
    known = _by_owner(findings, name) if isinstance(findings, Findings) else _as_seen(findings, name)
    if known:
        return known
    if column.linked is not None:
        return f"generalisation, together with {column.linked}"
    if search.way.done:
        return f"generalisation; {search.way.done}"
    refined = search.refine and Gives.SCHEME in search.technique.gives
    used = _REFINED if refined else search.technique.iso
    return used if isinstance(findings, Findings) else f"{used}, where required"


def _by_owner(findings: Findings, name: str) -> str:
    """Describe a column by its level in the scheme, or by its cells if all of them were kept or all suppressed."""
    if findings.part is not None and name in findings.part.scheme:
        return _on_level(findings.part, name)
    fates = findings.comparison.columns.get(name)
    if fates is None or fates.coarser or fates.changed:
        return ""
    if fates.suppressed <= findings.comparison.suppressed:
        return _UNCHANGED
    return _SUPPRESSED if fates.kept else "suppression of all values"


def _on_level(part: ReleasePart, name: str) -> str:
    """Describe the level of a column in the scheme of the release."""
    level, top = part.scheme[name], part.transformation.heights[name]
    whole = {0: "released unchanged", top: "suppression of all values"}
    return whole.get(level, f"generalisation to level {level} of {top}")


def _as_seen(findings: PublicFindings, name: str) -> str:
    """Describe a column by its released cells, if all are suppressed, or their labels show that nothing is lost."""
    column, counts = findings.seen[name], findings.seen.counts(name)
    if column.suppressed_code is not None and counts[column.suppressed_code] == findings.seen.records:
        return "suppression of all values"
    loss = findings.visible.columns[name]
    if loss is None or not findings.seen.records:
        return ""
    blank = 0 if column.suppressed_code is None else counts[column.suppressed_code] / findings.seen.records
    return "" if loss > blank else _SUPPRESSED if blank else _UNCHANGED


def _why(role: Role | None) -> str:
    return "not described in the policy" if role is None else role.meaning.partition(";")[0]


def _visible(findings: PublicFindings) -> Sheet | None:
    """Return the share of suppressed cells and the loss of each quasi-identifier, as a recipient computes them."""
    table = findings.seen
    if not table.quasi or not table.records:
        return None
    loss, rows = findings.visible.columns, []
    for name in table.quasi:
        code, cost = table[name].suppressed_code, loss.get(name)
        blank = 0 if code is None else table.counts(name)[code] / table.records
        rows.append((name, share(blank), "not determined" if cost is None else short(cost)))
    notes = (
        "Loss by label: mean share of the domain that the released values cover: 0 for an original value, 1 for *.",
        "Domain: the values of the hierarchy, if it lists them; otherwise the range of the released values.",
        "The owner's measure 'loss' refers to the original values instead.",
    )
    return Sheet("Released cells", ("variable", "suppressed cells", "loss by label"), tuple(rows), notes)


def _cells(findings: Findings, audience: Audience) -> Sheet | None:
    """Return the shares of unchanged, generalised, suppressed and changed cells per column."""
    gone = findings.comparison.suppressed
    rows = []
    for name, fates in findings.comparison.columns.items():
        counts = [fates.kept, fates.coarser, max(fates.suppressed - gone, 0), fates.changed]
        rows.append((name, *_shares(counts, max(sum(counts), 1), audience)))
    if not rows:
        return None
    headings = ("variable", "unchanged", "generalised", "suppressed", "changed")
    return Sheet(
        "Released cells compared with the original", headings, tuple(rows), ("Shares of the released records.",)
    )


def _shares(counts: list[int], whole: int, audience: Audience) -> list[str]:
    """Format shares, except those that must not be disclosed."""
    hidden = audience.hidden(counts)
    return ["not published" if hide else share(number / whole) for number, hide in zip(counts, hidden, strict=True)]


def _levels(findings: Findings) -> Sheet | None:
    """Return the number of records per level of each hierarchy, for releases without a common scheme."""
    if findings.part is None or findings.part.scheme or not findings.part.levels:
        return None
    levels = findings.part.levels
    heights = findings.part.transformation.heights
    top = max((height or 0) + 1 for height in heights.values())
    rows = [(name, *_on_each(level, heights[name], top)) for name, level in levels.items()]
    note = ("Level 0: original values; *: suppressed; ·: no records; empty: there is no such level.",)
    return Sheet("Records on each level", ("variable", *(f"level {level}" for level in range(top))), tuple(rows), note)


def _on_each(records: Sequence[int], height: int | None, levels: int) -> list[str]:
    """Return the number of records on each level; the level that suppresses all values is marked."""
    shown = [f"{number:,}{'*' * (level == height)}" if number else "·" for level, number in enumerate(records)]
    unused = max((height or 0) + 1 - len(shown), 0)
    return [*shown, *["·"] * unused, *[""] * (levels - len(shown) - unused)]


def _ladders(findings: Findings) -> Iterator[Figure]:
    """Draw the hierarchies used, with the frequencies of the original."""
    if findings.part is None:
        return
    ladders = findings.policy.hierarchies(findings.original)
    for name in findings.original.quasi[:MOST]:
        if name in findings.part.levels and any(findings.part.levels[name][1:]):
            counts = np.bincount(findings.original.codes(name), minlength=findings.original[name].size)
            yield Figure(ladder(ladders[name], counts, level=findings.part.scheme.get(name), few=findings.least))
