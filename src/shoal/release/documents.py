"""Documents of a release: the public manifest, and the files for the owner only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.dataset.histories import alone
from shoal.policy.policy import Policy
from shoal.policy.references import references
from shoal.release.fingerprint import fingerprint
from shoal.release.manifest import written
from shoal.release.origins import Origins, can_be_kept
from shoal.release.part import ReleasePart
from shoal.release.published import figures, published, roles


@dataclass(frozen=True, slots=True)
class Documents:
    """The manifest and the owner's files of a release.

    ``public``: the public manifest. ``owners``: the contents of the owner's files by name; None if a file does not
    apply.
    """

    public: str
    owners: Mapping[str, str | None]

    @classmethod
    def of(cls, parts: Mapping[str, ReleasePart], policy: Policy, hashes: Mapping[str, str]) -> "Documents":
        """Return the documents of a release. ``hashes``: the hashes of the written files, by name."""
        if policy.tables:
            return _of_tables(parts, policy, hashes)
        (part,) = parts.values()
        return _of_table(part, hashes)


def _of_table(part: ReleasePart, hashes: Mapping[str, str]) -> Documents:
    """Return the documents of a release of a single original table."""
    named = _named(part, hashes)
    further = {name: origins() for name, origins in part.further_origins.items()} if can_be_kept(part.given) else {}
    origins = Origins(part.records, part.drawn, further).document(part.given) if can_be_kept(part.given) else None
    owners = {
        "internal.json": {**part.internal, **named},
        "mapping.json": None if part.mapping is None else part.mapping.document(),
        "origins.json": None if origins is None else {**origins, **named},
    }
    texts = {name: None if document is None else written(document) for name, document in owners.items()}
    texts["draw.key"] = None if part.key is None else f"{part.key.decode()}\n"
    return Documents(written({**_public(part), **named}), texts)


def _named(part: ReleasePart, hashes: Mapping[str, str]) -> dict[str, Any]:
    """Return the identification of the tables: the hashes of their files, or of their content in a database."""
    prints = hashes or {name: fingerprint(table) for name, table in part.promise.tables.items()}
    first, *others = prints.items()
    further = {"files" if hashes else "tables": dict(others)} if others else {}
    return {"file_sha256" if hashes else "table_fingerprint": first[1], **further}


def _public(part: ReleasePart) -> dict[str, Any]:
    """Return the public manifest of a part. The manifest of a split table covers all its columns together."""
    tables, link = [*part.promise.tables.values()], part.promise.link
    chosen = figures(part.policy, part.suppressed, part.given)
    public = published(
        tables[0] if link is None else part.promise.whole,
        part.policy,
        chosen,
        divides_identities=part.promise.divides_identities,
    )
    if link is not None:
        form = part.promise.form
        kind = {} if form is None else {"kind": form.kind}
        public["split"] = {**kind, "link": link, "columns": [list(table.names) for table in tables]}
    return public


def _of_tables(parts: Mapping[str, ReleasePart], policy: Policy, hashes: Mapping[str, str]) -> Documents:
    """Return the documents of a release of several original tables."""
    common = {
        "references": [str(reference) for reference in references(policy.tables)],
        "met": True,
        **({"files": dict(hashes)} if hashes else {}),
    }
    unique, persons = alone(part.history for part in parts.values() if part.history is not None)
    internal = {
        **common,
        "policy": policy.document(),
        "knowing_all_records": {"alone": unique, "persons": persons},
        "tables": {name: _internal(name, part, policy) for name, part in parts.items()},
    }
    public = {**common, "tables": {name: about_table(name, part, policy) for name, part in parts.items()}}
    fresh = [part.pseudonym_key for part in parts.values() if part.pseudonym_key is not None]
    keys = {"pseudonyms.key": f"{fresh[0].decode()}\n" if fresh else None}
    keys |= {f"{name}.draw.key": f"{part.key.decode()}\n" for name, part in parts.items() if part.key is not None}
    origins = {
        f"{file}.origins.json": written(
            {**Origins(part.records, part.drawn).document(part.given), **_named(part, {file: sha256})}
        )
        for (file, sha256), part in zip(hashes.items(), parts.values(), strict=bool(hashes))
        if can_be_kept(part.given)
    }
    return Documents(written(public), {"internal.json": written(internal), **origins, **keys})


def _internal(name: str, part: ReleasePart, policy: Policy) -> dict[str, Any]:
    kin = part.promise.kin
    suppressed = {} if kin is None else {"orphans": kin.orphans, "left_out_with_others": kin.followed}
    return {**part.internal, **suppressed, "left_out": list(part.left_out), **_always(name, part, policy)}


def about_table(name: str, part: ReleasePart, policy: Policy) -> dict[str, Any]:
    """Return the public manifest of one of several tables."""
    searched = _public(part) if part.is_searched else {}
    return {**searched, **_always(name, part, policy)}


def _always(name: str, part: ReleasePart, policy: Policy) -> dict[str, Any]:
    """Return the facts that are published about a table with or without requirements."""
    dates = policy.of(name).dates
    return {
        "records": part.table.records,
        "columns": roles(part.table, part.policy),
        "pseudonyms": list(part.promise.pseudonyms),
        **({} if dates is None else {"moved_dates": dates.columns}),
        "table_fingerprint": fingerprint(part.table),
    }
