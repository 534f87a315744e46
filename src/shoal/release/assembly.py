"""Assembly of the released table from the transformation of its rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from shoal.classes.classes import Classes
from shoal.errors import PolicyError
from shoal.models.model import Need
from shoal.release.case import Case
from shoal.release.mapping import ValueMap
from shoal.release.promise import Original
from shoal.release.pseudonyms import key_of
from shoal.release.register import released_register
from shoal.release.transformation import Transformation
from shoal.release.transformed import Transformed, transformed
from shoal.table.role import Role
from shoal.table.table import Table


def assembled(case: Case, transformation: Transformation) -> Transformed:
    """Assemble the released table from its distinct rows."""
    released = transformed(case.table, transformation, key=case.key, keys=_keys(case))
    linked = [] if released.link is None else [released.link]
    tables = {part: _with_roles(case, table, linked) for part, table in released.tables.items()}
    return replace(released, table=_with_roles(case, released.table), tables=tables)


def _with_roles(case: Case, table: Table, links: Sequence[str] = ()) -> Table:
    """Return a released table in which linked columns are quasi-identifiers again.

    ``links``: the column that links the parts of a split table, whose rows are compared together with it.
    """
    quasi = (*case.policy.searched(case.whole).quasi, *links)
    return table.assign(quasi=[name for name in table.names if name in quasi])


def _keys(case: Case) -> dict[str, bytes]:
    """Return the key for each column that gets pseudonyms."""
    pseudonyms = case.policy.pseudonyms
    if pseudonyms is None:
        return {}
    wrong = [name for name in pseudonyms.columns if case.table.roles.get(name) not in {Role.DIRECT, Role.SUBJECT}]
    if wrong:
        raise PolicyError(
            "pseudonyms-of-column",
            "Column '{column}' cannot get pseudonyms, because it is neither a direct identifier nor the subject.",
            column=wrong[0],
        )
    for name in pseudonyms.columns:
        _check_links(case, name)
    return dict.fromkeys(pseudonyms.columns, key_of(case.policy, pseudonyms))


def _check_links(case: Case, name: str) -> None:
    """Refuse pseudonyms that would link records of different equivalence classes."""
    subject = case.table.subject
    if subject is None:
        differ = int(np.count_nonzero(case.table.counts(name))) < case.table.records
    else:
        shared = name != subject and case.table.persons(name)[: len(case.table[name].values)].max(initial=0) > 1
        differ = bool(shared) or Classes.of(case.table, case.table.quasi).overlap
    if differ:
        raise PolicyError(
            "pseudonyms-link",
            "Pseudonyms of column '{column}' would link records of an individual with different values, whose "
            "combination may be rare.",
            remedy="Omit the pseudonyms, or reduce the table to one record per individual. A column that repeats "
            "must be the subject.",
            column=name,
        )


def mapping(case: Case, scheme: Mapping[str, int], transformed: Transformed) -> ValueMap | None:
    """Return the released value of every original value; None if it depends on more than the value itself."""
    if not scheme or case.show or case.leaders or case.policy.pseudonyms or case.policy.dates:
        return None
    return ValueMap.of(case.table, case.hierarchies, scheme, transformed.table.names)


def original(case: Case, scheme: Mapping[str, int], transformed: Transformed) -> Original:
    """Return the information about the original that the written file does not contain."""
    table, population = case.table, case.gatherer.population
    sensitive = {name: table[name] for name in table.sensitive}
    if population is not None and population.register is not None:  # the register holds original values
        asked = any({Need.POPULATION, Need.REGISTER} & model.needs for model in case.models)
        population = released_register(population, table, case.hierarchies, scheme) if asked else None
    return Original(
        sensitive,
        {name: table.persons(name) for name in sensitive},
        {name: hierarchy for name, hierarchy in case.hierarchies.items() if name in sensitive},
        population,
        case.policy.data.missing,
        transformed.whose,
        transformed.thresholds,
        transformed.truths,
    )
