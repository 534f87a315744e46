"""``shoal.attack``: the success of adversaries against a release."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.attacks.attack import ATTACKS, Attack
from shoal.attacks.battery import Attacked, battery, chosen_attacks
from shoal.attacks.caveats import notes
from shoal.attacks.ceilings import with_ceilings
from shoal.attacks.scene import TARGETS
from shoal.dataset.dataset import Dataset
from shoal.dataset.result import DatasetResult
from shoal.errors import AttackError
from shoal.policy.policy import Policy
from shoal.progress import Hook, silent
from shoal.recoding.matching import Match
from shoal.release.release import Release
from shoal.verbs.attack_inputs import AttackInputs
from shoal.verbs.inputs import AnyPolicy, Inputs, names_of, policy_of
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

    ``release``: the result of ``anonymize``, or any table made from the original: generalised, suppressed,
    perturbed or synthetic. ``external``: an identified register. ``outsiders``: individuals who are not in the
    data, with the same columns. ``also``: another release of the same individuals, or a list of them. ``key``:
    columns that identify a record in the original, the release and the register. ``in_order``: the release has the
    order of the original. Without either, records are matched by an identifier column, by content, or last by
    position. ``values``: the further table of a release in several tables, or a list of them (default: those that
    the manifest names). ``link``: the column with the number of the bucket, in all of them (default: as the
    manifest states, or ``bucket``). ``attacks``: names of attacks, or attacks with parameters, or ``"all"``
    (default: all that apply and do not take long, and those that the policy limits). ``targets``: the maximum
    number of attacked individuals, drawn at random. ``ceilings``: whether the attacks are also run on the original,
    and on a release without quasi-identifiers. ``matched``: the match of the records, if already computed.

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
    given = AttackInputs(inputs, release, external, outsiders, _listed(also), values, link)
    scene, how = given.scene(_names(key), in_order=in_order, matched=matched, seed=seed)
    scene = replace(scene, most=targets, progress=progress or silent)
    chosen = chosen_attacks(scene, attacks)
    if attacks is None:
        chosen += [kind() for kind in _limited(inputs.policy, {attack.name for attack in chosen})]
    found = battery(scene, chosen, tuple(notes(scene, how, given.register)))
    return with_ceilings(found, scene, chosen) if ceilings else found


def _names(key: Sequence[str] | str | None) -> tuple[str, ...]:
    return tuple(names_of(key) or ())


def _listed(given: Any) -> list[Any]:
    """Return one release or several as a list."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _limited(policy: Policy, known: Collection[str]) -> Iterator[type[Attack]]:
    """Yield the attacks that a policy limits, except those that are known."""
    for name in dict.fromkeys(limit.attack for limit in policy.attack_limits):
        if name not in known:
            yield ATTACKS[name]
