"""The fingerprint of a table: the same for the same records, wherever they are and in whatever order they come."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.packing import packed
from shoal.table.table import Table

_LANES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # two numbers of 64 bits for each record


def fingerprint(table: Table) -> str:
    """Return a hash of what a table holds: names, values and every record, in any order.

    ``sum over records r of h(r) mod 2⁶⁴``, for two functions h that mix all codes of a record, and the dictionaries
    that say what the codes mean. Sums need no order (Bellare & Micciancio 1997), and tables of a cluster have none. It
    tells that a table is another one; somebody who wants two tables to have the same one can make such.

    >>> import shoal
    >>> one, other = shoal.read({"x": [1, 2, 2]}), shoal.read({"x": [2, 1, 2]})
    >>> fingerprint(one) == fingerprint(other), fingerprint(one) == fingerprint(shoal.read({"x": [1, 1, 2]}))
    (True, False)
    """
    sizes, sums = [max(column.size, 1) for column in table.columns], np.zeros(len(_LANES), np.uint64)
    for codes, counts in table.engine.tallied(table.names, 1 << 18):
        keys = packed(codes, sizes)
        sums += np.array([(_mixed(keys, lane) * counts.astype(np.uint64)).sum() for lane in _LANES], np.uint64)
    digest = hashlib.sha256(f"{table.records} {sums.tolist()}".encode())
    for column in table.columns:
        head = {"name": column.name, "kind": str(column.kind), "values": column.labels().to_pylist()}
        digest.update(json.dumps(head, ensure_ascii=False, sort_keys=True).encode())
    return digest.hexdigest()


def _mixed(keys: Sequence[NDArray[np.uint64]], lane: int) -> NDArray[np.uint64]:
    """Return one number for each row of keys; each bit of these changes half of its bits (Stafford's mixer, 13th)."""
    mixed: NDArray[np.uint64] = np.full(1, lane, np.uint64)
    for key in keys:
        mixed = mixed * np.uint64(3) + key
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed
