"""Fingerprint of a table, independent of its storage and of the order of its records."""

import hashlib
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.packing import packed
from shoal.table.table import Table

_LANES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)  # seeds of the two 64-bit hashes of a record


def fingerprint(table: Table) -> str:
    """Return a hash of the content of a table: names, values and all records, in any order.

    The hash covers ``sum over records r of h(r) mod 2⁶⁴``, for two functions h that mix all codes of a record, and the
    dictionaries of the codes. Sums do not depend on the order of records (Bellare & Micciancio 1997), which is
    undefined for tables of a cluster. A different fingerprint indicates a different table. The reverse is not
    guaranteed: an adversary can construct two tables with the same fingerprint.

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
    """Return one hash per row of keys; every input bit changes half of the output bits (Stafford's mixer 13)."""
    mixed: NDArray[np.uint64] = np.full(1, lane, np.uint64)
    for key in keys:
        mixed = mixed * np.uint64(3) + key
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed
