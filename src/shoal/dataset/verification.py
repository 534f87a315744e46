"""Verification of tables that belong together: all are read again from where they were written, and held together."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.dataset.inheritance import Heritage, Secret, Shows, inherited
from shoal.dataset.links import Records, named_records, whose
from shoal.dataset.part import DatasetPart
from shoal.errors import ReleaseError, counted
from shoal.policy.policy import Policy
from shoal.policy.references import Reference, references
from shoal.release.judgement import Judgement
from shoal.release.release import check
from shoal.release.verification import check_same, judged
from shoal.table.column import SUPPRESSED
from shoal.table.databases.database import Stored
from shoal.table.raw import Encoded
from shoal.table.reading import read
from shoal.table.table import Table

Made = Mapping[str, tuple[Path | Stored, Mapping[str, Any]]]


def verify_all(parts: Mapping[str, DatasetPart], policy: Policy, written: Made) -> dict[str, tuple[Judgement, ...]]:
    """See that written tables are what was promised and belong together, and judge them by every requirement."""
    tables: dict[str, Table] = {}
    shows: dict[str, Shows] = {}
    judgements = {}
    for name, part in parts.items():
        source, options = written[name]
        texts = [*part.table.quasi, *part.pseudonyms]
        stored = read(source, text=texts, suppressed=SUPPRESSED, **options)
        check_same(stored, part.table)
        tables[name] = stored.assign(quasi=list(part.table.quasi), sensitive=list(part.table.sensitive))
        links = {
            reference: _link(reference, tables) for reference in references(policy.tables) if reference.table == name
        }
        heritage = inherited(links, shows, {*part.table.names, *part.left_out})
        own = [
            replace(secret, encoded=_again(secret, tables[name]))
            for secret in part.shows.secrets
            if secret.name in part.table
        ]
        shows[name] = Shows.of(tables[name], own, heritage)
        judgements[name] = _judged(name, part, policy, tables, heritage)
    return judgements


def _again(secret: Secret, table: Table) -> Encoded:
    return Encoded(table[secret.name], table.codes(secret.name))


def _link(reference: Reference, tables: Mapping[str, Table]) -> Records:
    """Return which record of another table each record refers to, as they were written."""
    link = named_records(tables[reference.table], reference.column, tables[reference.other], reference.key)
    lost = int(np.count_nonzero(link < 0))
    twice = int(np.count_nonzero(tables[reference.other].counts(reference.key) > 1))
    if lost or twice:
        raise ReleaseError(
            f"In the written release {counted(lost, 'record')} refer to nothing, and {counted(twice, 'key')} name "
            f"several records ({reference}). It was not handed out."
        )
    return link


def _judged(
    name: str, part: DatasetPart, policy: Policy, tables: Mapping[str, Table], heritage: Heritage
) -> tuple[Judgement, ...]:
    """Judge a table with what its records inherit, and with whose they are, as far as the files say that."""
    release, table = part.release, tables[name]
    if release is None:
        return ()
    own = [Encoded(column, table.codes(column.name)) for column in table.columns]
    joined = Table.of([*own, *heritage.columns], table.records, table.source)
    persons = _persons(name, policy, tables)
    original = release.original if persons is None else replace(release.original, subject=persons)
    return check(judged(joined, release.table, original, release.asked))


def _persons(name: str, policy: Policy, tables: Mapping[str, Table]) -> tuple[Any, Any] | None:
    """Return whose records these are, by the pseudonyms of this table or of those that it refers to."""
    ways = whose(policy, {other: table.names for other, table in tables.items()}, name)
    if ways is None:
        return None
    last = tables[ways.table]
    records = ways.records(np.arange(tables[name].records), lambda reference: _link(reference, tables))
    return last[ways.column], last.codes(ways.column)[records]
