"""What was done to each variable, and why."""

from collections.abc import Iterator

import numpy as np

from shoal.charts.ladder import ladder
from shoal.release.release import Release
from shoal.reporting.audience import Audience
from shoal.reporting.document import Block, Figure, Section, Text, Tone
from shoal.reporting.findings import Findings
from shoal.sheet import Sheet
from shoal.table.role import Role

MOST = 12  # hierarchies that are drawn
_OUTLIERS = {
    "relocate": "records that fit into no class show the nearest one (relocation)",
    "cells": "records that fit into no class lose single values (local suppression)",
    "counterfeits": "invented records stand beside those that fit into no class",
}
_LOCAL = {
    "mondrian": "generalisation, class by class (Mondrian)",
    "suppression": "local suppression: single values are left out",
}


def variables(found: Findings, audience: Audience) -> Section:
    """Tell for each variable what became of it."""
    lead = Text(_lead(found), Tone.LEAD)
    blocks: list[Block | None] = [lead, _done(found), _cells(found, audience), _levels(found, audience)]
    return Section.of("What was done to each variable", "variables", [*blocks, *_ladders(found, audience)])


def _lead(found: Findings) -> str:
    if found.release is None:
        return "The released table was made elsewhere. This is what can be told from both tables."
    named = "Columns that name persons get pseudonyms, or are removed." if found.policy.pseudonyms else ""
    drawn = "A sample of the persons was drawn." if found.policy.search.sample is not None else ""
    parts = [named or "Columns that name persons are removed.", drawn, str(found.release.public["truthful"])]
    return " ".join(part for part in parts if part)


def _done(found: Findings) -> Sheet:
    rows = [(name, str(found.original.roles.get(name, "none")), technique(found, name), _why(found, name))
            for name in found.original.names]  # fmt: skip
    notes = ("Techniques are called as in ISO/IEC 20889.",)
    return Sheet("Techniques", ("variable", "role", "technique", "because it"), tuple(rows), notes, words=4)


def technique(found: Findings, name: str) -> str:
    """Say what was done to a column."""
    pseudonyms = found.policy.pseudonyms
    if name not in found.released:
        return "removed"
    if pseudonyms is not None and name in pseudonyms.columns:
        return "pseudonymisation with a secret key"
    if found.release is None:
        fates = found.comparison.columns.get(name)
        same = fates is not None and not (fates.coarser or fates.changed)
        return "released as it is" if same else "as the other table shows it"
    if found.original.roles.get(name) is not Role.QUASI:
        return "released as it is"
    return _generalised(found.release, name)


def _generalised(release: Release, name: str) -> str:
    """Say how a quasi-identifier was made coarser."""
    said = release.policy.columns[name]
    if said.show != "label":
        return f"microaggregation: a class shows the {said.show} of its members"
    if said.linked is not None:
        return f"generalisation, together with {said.linked}"
    if name not in release.scheme and release.policy.search.outliers in _OUTLIERS:
        return f"generalisation; {_OUTLIERS[release.policy.search.outliers]}"
    if name not in release.scheme:
        return _LOCAL.get(release.policy.search.recoding, "local generalisation: each record as little as it needs")
    level, top = release.scheme[name], release.public["heights"][name]
    whole = {0: "released as it is", top: "local suppression of all values"}
    return whole.get(level, f"generalisation to level {level} of {top}")


def _why(found: Findings, name: str) -> str:
    role = found.original.roles.get(name)
    return "is not named in the policy" if role is None else role.meaning.partition(";")[0]


def _cells(found: Findings, audience: Audience) -> Sheet | None:
    """Tell of each column how many released cells are as they were, coarser, suppressed or untrue."""
    gone = found.comparison.suppressed
    rows = []
    for name, fates in found.comparison.columns.items():
        counts = [fates.kept, fates.coarser, max(fates.suppressed - gone, 0), fates.changed]
        rows.append((name, *_shares(counts, max(sum(counts), 1), audience)))
    if not rows:
        return None
    headings = ("variable", "as it was", "coarser", "shows nothing", "not true")
    return Sheet("What became of the cells", headings, tuple(rows), ("Shares of the records that are released.",))


def _shares(counts: list[int], whole: int, audience: Audience) -> list[str]:
    """Write shares, but for those that are not told."""
    hidden = audience.hidden(counts)
    return ["not told" if hide else f"{number / whole:.1%}" for number, hide in zip(counts, hidden, strict=True)]


def _levels(found: Findings, audience: Audience) -> Sheet | None:
    """Tell how many records are on each level of each ladder, where that differs."""
    if found.release is None or found.release.scheme or not found.release.levels or audience.external:
        return None
    levels = found.release.levels
    top = max(map(len, levels.values()))
    rows = [
        (name, *(f"{number:,}" if number else "·" for number in held), *[""] * (top - len(held)))
        for name, held in levels.items()
    ]
    told = ("Level 0 is the value itself; on the last level nothing is shown.",)
    return Sheet("Records on each level", ("variable", *(f"level {level}" for level in range(top))), tuple(rows), told)


def _ladders(found: Findings, audience: Audience) -> Iterator[Figure]:
    """Draw the ladders that were used, for the owner: they tell how frequent values of the original are."""
    if audience.external or found.release is None:
        return
    ladders = found.policy.hierarchies(found.original)
    for name in found.original.quasi[:MOST]:
        if name in found.release.levels and any(found.release.levels[name][1:]):
            counts = np.bincount(found.original.codes(name), minlength=found.original[name].size)
            yield Figure(ladder(ladders[name], counts, level=found.release.scheme.get(name), few=found.least))
