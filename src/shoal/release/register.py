"""Register of the population as seen by an adversary with the release: generalised by the same scheme."""

from collections.abc import Mapping

import numpy as np

from shoal.errors import ModelError
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.kernels.translation import narrowest
from shoal.population import Population
from shoal.release.columns import labelled
from shoal.remedy import Setting
from shoal.table.raw import Encoded
from shoal.table.table import Table
from shoal.techniques.outliers import usual_way
from shoal.techniques.technique import Gives, giving

_NOWHERE = "\ue000"  # private-use character: label of values that are in no hierarchy


def released_register(
    population: Population, table: Table, hierarchies: Mapping[str, Hierarchy], scheme: Mapping[str, int]
) -> Population:
    """Return the population with labels instead of values. The columns of ``table`` contain the values of the register.

    >>> import shoal
    >>> from shoal.hierarchy.spec import bind_all
    >>> everybody = Population.of(shoal.read({"age": [31, 34, 71]}))
    >>> table = everybody.covering(shoal.read({"age": [31]}), ["age"])
    >>> ladders = bind_all({"age": {"kind": "interval", "widths": [10]}}, table)
    >>> released_register(everybody, table, ladders, {"age": 1}).register.to_frame("pyarrow").to_pydict()
    {'age': ['30-39', '30-39', '70-79']}
    """
    if not scheme:
        raise ModelError(
            "register-needs-scheme",
            "A register can be compared with a release only if all records are generalised to the same levels.",
            remedy=[
                Setting("search.recoding", giving(Gives.SCHEME)[0].called()),
                'Also set refine = false and outliers = "{outliers}".',
            ],
            outliers=usual_way(),
        )
    people = population.register_rows(table, list(scheme))
    encoded = []
    for (name, level), codes in zip(scheme.items(), people.codes, strict=True):
        column, places = labelled(name, [*hierarchies[name].labels(level).to_pylist(), _NOWHERE])
        released = places.astype(narrowest(max(column.size, 1)))[codes]
        encoded.append(Encoded(column, np.repeat(released, people.counts)))
    return Population.of(Table.of(encoded, int(people.counts.sum()), table.source))
