"""``shoal.attack``: the success of adversaries against a release."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.attacks.attack import ATTACKS, Attack
from shoal.attacks.battery import Attacked, battery, chosen_attacks
from shoal.attacks.caveats import notes
from shoal.attacks.ceilings import with_ceilings
from shoal.attacks.scene import TARGETS, Remade, Scene
from shoal.attacks.split_tables import SplitTables
from shoal.attacks.truth import in_register
from shoal.dataset.dataset import Dataset
from shoal.dataset.result import DatasetResult
from shoal.errors import AttackError, ShoalError
from shoal.kernels.translation import Codes
from shoal.policy.policy import Policy
from shoal.progress import Hook, silent
from shoal.recoding.matching import Match
from shoal.release.case import Case
from shoal.release.making import released
from shoal.release.pairing import drawn_from, which
from shoal.release.release import Release
from shoal.remedy import Option, either
from shoal.table.raw import Encoded
from shoal.table.table import Table
from shoal.verbs.inputs import AnyPolicy, Inputs, ReleasedTables, names_of, policy_of, table_of
from shoal.verbs.on_datasets import also
from shoal.verbs.released_dataset import TablePair, dataset_under, of_pairs
from shoal.words import listed

_HINT = "Name columns that identify a record in both tables (key), or match records by position (in order)."


def _attack_dataset(  # noqa: PLR0913 - the options of the verb that apply to several tables
    original: Dataset,
    release: Any,
    policy: AnyPolicy = None,
    *,
    attacks: Sequence[str | Attack] | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    progress: Hook | None = None,
) -> DatasetResult[Attacked]:
    """Attack each released table of a dataset. The adversary has all of them, and follows the references."""
    dataset, hook = dataset_under(original, release, policy), progress or silent

    def work(pair: TablePair) -> Attacked | None:
        if not pair.before.shows or not pair.after.table.records:
            return None
        before, after, match = pair.before, pair.after, pair.match_of_view
        options: dict[str, Any] = {"attacks": attacks, "targets": targets, "seed": seed, "progress": hook}
        return attack(before.table, after.table, before.policy, matched=match, **options)

    results = of_pairs(dataset, release, work, "attacking", hook)
    empty = [name for name, result in results.items() if result is None]
    notes = (
        (f"Not attacked, because no quasi-identifier, individual or record is released: {listed(empty)}.",)
        if empty
        else ()
    )
    return DatasetResult({name: result for name, result in results.items() if result is not None}, notes=notes)


@also(_attack_dataset)
def attack(  # noqa: PLR0913 - keyword-only options
    original: Any,
    release: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    subject: str | None = None,
    external: Any = None,
    outsiders: Any = None,
    also: Any = None,
    key: Sequence[str] | str | None = None,
    in_order: bool = False,
    hierarchies: Mapping[str, Any] | None = None,
    values: Any = None,
    link: str | None = None,
    attacks: Sequence[str | Attack] | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    ceilings: bool = False,
    matched: Match | None = None,
    progress: Hook | None = None,
) -> Attacked:
    """Run attacks on a release, and measure their success.

    ``release``: the result of ``anonymize``, or any table made from the original: generalised, suppressed, perturbed or
    synthetic. ``external``: an identified register. ``outsiders``: individuals who are not in the data, with the same
    columns. ``also``: another release of the same individuals, or a list of them. ``key``: columns that identify a
    record in the original, the release and the register. ``in_order``: the release has the order of the original.
    Without either, records are matched by an identifier column, by content, or last by position. ``values``: the
    further table of a release in several tables, or a list of them (default: those that the manifest names). ``link``:
    the column with the number of the bucket, in all of them (default: as the manifest states, or ``bucket``).
    ``attacks``: names of attacks, or attacks with parameters (default: all that apply, and those that the policy
    limits). ``targets``: the maximum number of attacked individuals, drawn at random. ``ceilings``: whether the attacks
    are also run on the original, and on a release without quasi-identifiers. ``matched``: the match of the records, if
    already computed.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "flu"]}
    >>> coarse = {"age": ["30-39", "30-39", "70-79", "70-79"], "dx": ["flu", "ms", "flu", "flu"]}
    >>> found = shoal.attack(data, coarse, quasi=["age"], sensitive=["dx"], attacks=["homogeneity", "linkage"])
    >>> [(one.attack, one.success.value) for one in found.results]
    [('homogeneity', 0.5), ('linkage', 0.5)]
    """
    if targets < 1 or seed < 0:
        raise AttackError("bad-option", "At least one individual must be attacked, and the seed must not be negative.")
    if isinstance(original, Release):
        raise AttackError(
            "wrong-order", "The original comes first, then the release.", remedy="shoal.attack(original, release)"
        )
    inputs = Inputs.of(
        original,
        policy_of(policy, release),
        quasi=quasi,
        sensitive=sensitive,
        subject=subject,
        hierarchies=hierarchies,
    )
    table = inputs.table.in_memory()
    parts = ReleasedTables.of(release, values, link)
    form = inputs.policy.search.publish
    grouped = form is not None and form.groups_columns
    shown_tables = SplitTables.of(parts.tables, table, parts.link, groups_columns=grouped)
    register, strangers = (None if data is None else table_of(data).in_memory() for data in (external, outsiders))
    given = _listed(also)
    others = [_other_release(other, table) for other in given]
    if strangers is not None and table.subject is not None and table.subject in strangers:
        strangers = strangers.assign(subject=table.subject)
    _check_records(
        {
            "original": table,
            "release": shown_tables.first,
            **{f"other release ({number})": other.first for number, other in enumerate(others, 1)},
            "register": register,
            "table of outsiders": strangers,
        }
    )
    scene = Scene.of(
        table,
        shown_tables.whole,
        outsiders=strangers,
        register=register,
        others=[other.whole for other in others],
        hierarchies=inputs.hierarchies,
        seed=seed,
    )
    scene = replace(shown_tables.on(scene), most=targets, progress=progress or silent)
    named = _key(key, table, shown_tables.first, register)
    shown = (other.on(one) for other, one in zip(others, scene.others, strict=True))
    scene = replace(
        scene,
        others=tuple(
            _with_sure_truth(one, made if isinstance(made, Release) else other.first, named, inputs)
            for one, other, made in zip(shown, others, given, strict=True)
        ),
    )
    if matched is None:
        made_release = release if isinstance(release, Release) else shown_tables.first
        scene, how = _with_truth(scene, made_release, named, inputs, in_order=in_order)
    else:
        truth = None if matched.rows is None else matched.rows.astype(np.intp)
        scene, how = replace(scene, truth=truth, is_sure=matched.recorded), matched.sentence
    if register is not None and scene.register is not None:
        whose = in_register(table, register, named)
        scene = replace(scene, whose=None if whose is None else whose[scene.register.records])
    models = tuple(model for _, _, model in inputs.policy.requirements())
    scene = replace(scene, requirements=models, remade=_remaking(inputs, release, scene))
    chosen = chosen_attacks(scene, attacks)
    if attacks is None:
        chosen += [kind() for kind in _limited(inputs.policy, {attack.name for attack in chosen})]
    found = battery(scene, chosen, tuple(notes(scene, how, register)))
    return with_ceilings(found, scene, chosen, scene.progress) if ceilings else found


def _other_release(release: Any, table: Table) -> SplitTables:
    """Return another release of the same individuals; one whose quasi-identifiers are in several tables is refused."""
    parts = ReleasedTables.of(release)
    other = SplitTables.of(parts.tables, table, parts.link)
    if other.divides_identities:
        raise AttackError(
            "divided-identities",
            "The quasi-identifiers of the other release are in several tables, which cannot be combined with another "
            "release.",
            remedy="Give the sliced release as the first one, to attack it by itself.",
        )
    return other


def _remaking(inputs: Inputs, release: Any, scene: Scene) -> Remade | None:
    """Return a function that makes a release with the policy from other values of a column; None without a policy.

    The names of what it makes are those of the scene; a release that cannot be made from the other values is None.
    """
    policy = release.policy if isinstance(release, Release) else inputs.policy
    if not policy.require or policy.tables:
        return None

    if policy.search.independent:
        return lambda column, codes: scene  # noqa: ARG005 - the same classes, whatever the values

    def remade(column: str, codes: Codes) -> Scene | None:
        table = _with_values(scene.original, column, codes)
        try:
            made = released(Case.of(table, policy), 1, silent)
        except ShoalError:
            return None
        again = Scene.of(table, made.first.in_memory(), hierarchies=scene.hierarchies, seed=scene.seed)
        return replace(_with_truth(again, made, (), inputs, in_order=False)[0], requirements=scene.requirements)

    return remade


def _with_values(table: Table, column: str, codes: Codes) -> Table:
    """Return a table with other values of a column, one for each record."""
    columns = [Encoded(each, codes if each.name == column else table.codes(each.name)) for each in table.columns]
    return replace(Table.of(columns, table.records, table.source), roles=table.roles)


def _listed(given: Any) -> list[Any]:
    """Return one release or several as a list."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _with_sure_truth(scene: Scene, release: Release | Table, key: Sequence[str], inputs: Inputs) -> Scene:
    """Return the scene of another release with its matched records; without them if only the content matches.

    Within a class, a match by content is arbitrary, so that correct links would count as wrong.
    """
    matched, _ = _with_truth(scene, release, key, inputs, in_order=False)
    return matched if matched.is_sure else replace(matched, truth=None)


def _limited(policy: Policy, known: Collection[str]) -> Iterator[type[Attack]]:
    """Yield the attacks that a policy limits, except those that are known."""
    for name in dict.fromkeys(limit.attack for limit in policy.attack_limits):
        if name not in known:
            yield ATTACKS[name]


def _check_records(tables: Mapping[str, Table | None]) -> None:
    for name, table in tables.items():
        if table is not None and not table.records:
            raise AttackError("no-records", "The {table} has no records.", table=name)


def _key(key: Sequence[str] | str | None, original: Table, release: Table, register: Table | None) -> tuple[str, ...]:
    """Return the columns of a key; refuse a column that the original lacks, or both the release and the register."""
    named = tuple(names_of(key) or ())
    for name in named:
        original[name]  # raises if there is no such column
        if name not in release and (register is None or name not in register):
            raise AttackError(
                "key-without-column",
                "The key names column '{column}', which only the original has.",
                remedy=either("Name a column that the release or the register also has", Option("in_order", True)),
                column=name,
            )
    return named


def _with_truth(
    scene: Scene, release: Release | Table, key: Sequence[str], inputs: Inputs, *, in_order: bool
) -> tuple[Scene, str]:
    """Return the scene with the matched records, and a sentence on the matching method."""
    named = key if key and all(name in scene.release for name in key) else None
    if named is not None and in_order:
        raise AttackError(
            "key-and-order", "Records are matched by a key or by position, not by both.", remedy="Omit one of them."
        )
    match = which(scene.original, release, named, hierarchies=scene.hierarchies, in_order=in_order)
    how = match.sentence if match.rows is not None else f"{match.sentence} {_HINT}"
    sample, _ = drawn_from(scene.original, match)  # frequencies, on which labels may depend, are those of the sample
    hierarchies = scene.hierarchies if match.drawn is None else replace(inputs, table=sample).hierarchies
    truth = None if match.rows is None else match.rows.astype(np.intp)
    is_sure = match.recorded or named is not None or in_order
    return replace(scene, truth=truth, hierarchies=hierarchies, is_sure=is_sure), how
