"""Loading of the C core, and the choice between the C core and the numpy implementation.

``SHOAL_KERNELS=numpy`` forces numpy, ``SHOAL_KERNELS=c`` requires the C core. By default, the C core is used if it is
installed and matches its sources.
"""

import ctypes
import hashlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import ShoalError

Choice = Literal["auto", "c", "numpy"]

_HERE = Path(__file__).parent
_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

_i32, _i64, _ptr = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p
_u32, _u64 = ctypes.c_uint32, ctypes.c_uint64
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "shoal_intern_text": (_i64, [_ptr, _i64, _i64, _ptr, _i64, _ptr, _i64, _ptr, _ptr, _ptr]),
    "shoal_append_text": (_i64, [_ptr, _i64, _i64, _ptr, _i64, _ptr, _i64, _ptr, _ptr]),
    "shoal_split_fields": (_i64, [_ptr, _i64, ctypes.c_uint8, _i64, _ptr]),
    "shoal_rehash_text": (None, [_ptr, _ptr, _i64, _ptr, _i64]),
    "shoal_intern_keys": (_i64, [_ptr, _i64, _ptr, _i64, _ptr, _ptr, _ptr]),
    "shoal_rehash_keys": (None, [_ptr, _i64, _ptr, _i64]),
    "shoal_tally_keys": (_i64, [_ptr, _i64, _ptr, _i64, _ptr]),
    "shoal_retally_keys": (None, [_ptr, _i64, _ptr, _i64]),
    "shoal_text_words": (None, [_ptr, _ptr, _i64, _i64, _ptr]),
    "shoal_gather_text": (None, [_ptr, _ptr, _ptr, _i64, _ptr, _ptr]),
    "shoal_translate": (None, [_ptr, _i32, _i64, _ptr, _ptr, _i32]),
    "shoal_pack": (None, [_ptr, _ptr, _ptr, _i32, _i64, _ptr]),
    "shoal_group_direct": (_i64, [_ptr, _i64, _ptr, _i64, _ptr]),
    "shoal_sum": (_i64, [_ptr, _i32, _i64, _ptr, _ptr, _i64]),
    "shoal_mark": (None, [_ptr, _i32, _i64, _ptr]),
    "shoal_tally": (None, [_ptr, _i64, _ptr, _ptr]),
    "shoal_subset_counts": (None, [_ptr, _ptr, _ptr, _ptr, _i64, _i32, _i32, _i32, _ptr, _ptr, _ptr, _ptr, _ptr]),
    "shoal_subset_largest": (None, [_ptr, _i64, _ptr, _i64, _ptr, _i64, _u32, _ptr]),
    "shoal_subset_breaches": (
        None,
        [_ptr, _i64, _i64, _i64, _u32, _u32, _i32, _i32, _u32, _u32, _ptr, _ptr, _ptr, _ptr],
    ),
    "shoal_pair_counts": (None, [_ptr, _ptr, _ptr, _ptr, _i64, _i32, _i64, _i64, _ptr, _ptr]),
    "shoal_subset_search": (
        _i64,
        [_ptr, _ptr, _ptr, _i64, _i32, _i32, _i32, _u64, _u64, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr],
    ),
    "shoal_lattice_tally": (None, [_ptr, _ptr, _ptr, _ptr, _ptr, _i64, _ptr]),
    "shoal_lattice_list": (_i64, [_ptr, _ptr, _ptr, _ptr, _ptr, _i64, _i64, _ptr]),
    "shoal_lattice_spread": (None, [_ptr, _ptr, _i64, _ptr, _ptr, _ptr, _ptr, _i64, _ptr]),
    "shoal_scan": (None, [_ptr, _ptr, _i64, _u32, _u64, _ptr, _ptr, _ptr]),
    "shoal_witness": (_i64, [_ptr, _ptr, ctypes.c_double, _i64]),
    "shoal_siphash": (None, [_ptr, _ptr, _i64, _i64, _ptr]),
    "shoal_partners": (None, [_ptr, _i64, _i64, _ptr, _ptr, _ptr, _ptr, _ptr]),
    "shoal_dealt": (_i64, [_ptr, _i64, _i64, _ptr, _ptr, _ptr]),
    "shoal_matched": (
        None,
        [_ptr, _i64, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr, _i64, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr],
    ),
    "shoal_order_keys": (None, [_ptr, _i64, _ptr, _ptr, _ptr]),
    "shoal_layer_below": (_i64, [_i32, _ptr, _ptr, _i64, _ptr, _ptr, _ptr]),
    "shoal_spans": (None, [_ptr, _ptr, _ptr, _i64, _ptr, _ptr, _ptr]),
    "shoal_cut": (None, [_ptr, _ptr, _ptr, _ptr, _i64, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr]),
    "shoal_decimals": (_i64, [_ptr, _ptr, _i64, _ptr, _ptr, _ptr]),
    "shoal_uniques": (None, [_ptr, _ptr, _ptr]),
    "shoal_uniques_in_order": (None, [_ptr, _ptr, _i32, _ptr, _ptr]),
    "shoal_covering": (None, [_i32, _ptr, _i64, _ptr, _ptr, _ptr, _ptr, _i64, _ptr]),
    "shoal_lookups": (None, [_i32, _ptr, _ptr, _ptr, _ptr, _i64, _i64, _ptr]),
    "shoal_nearest": (
        _i64,
        [_i32, _ptr, _ptr, _ptr, _ptr, _i64, _i64, ctypes.c_float, _i64, _i64, _i64, _ptr, _ptr, _ptr, _ptr],
    ),
    "shoal_covering_best": (None, [_i32, _ptr, _i64, _ptr, _ptr, _ptr, _ptr, _ptr, _ptr]),
    "shoal_covering_rows": (_i64, [_i32, _ptr, _i64, _ptr, _ptr, _i64, _i64, _i64, _ptr, _ptr]),
    "shoal_assign": (None, [_i32, _ptr, _i64, _ptr, _ptr, _i64, _ptr, _ptr, _i64, _ptr]),
    "shoal_covered": (None, [_i32, _ptr, _i64, _ptr, _ptr, _ptr]),
    "shoal_mdav": (_i64, [_ptr]),
    "shoal_v_mdav": (_i64, [_ptr, ctypes.c_double]),
    "shoal_k_member": (_i64, [_ptr]),
    "shoal_univariate": (None, [_ptr, _ptr, _i64, _u64, _ptr, _ptr]),
    "shoal_regroup": (_i64, [_ptr, _ptr, _ptr, _i64]),
    "shoal_scan_quotes": (None, [_ptr, _i64, ctypes.c_uint8, _ptr, _ptr, _i64]),
}


def digest(sources: Path) -> str:
    """Return the hash of all source files in a folder."""
    return hashlib.sha256(b"".join(source.read_bytes() for source in sorted(sources.iterdir()))).hexdigest()


def load(path: Path, sources: Path) -> ctypes.CDLL | None:
    """Return the library at ``path``, or None if it is missing, cannot be loaded, or was not built from ``sources``."""
    if not path.exists():
        return None
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        warnings.warn("shoal's C core cannot be loaded here; numpy is used", RuntimeWarning, stacklevel=2)
        return None
    library.shoal_source_hash.restype = ctypes.c_char_p
    if library.shoal_source_hash().decode() != digest(sources):
        warnings.warn(
            "shoal's C core is older than its source; numpy is used. Hint: install shoal again.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class NotInstalledError(ShoalError):
    """The C core is required but not installed."""


class _Selection:
    """The choice of kernels. The library is loaded on first use."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self._library: ctypes.CDLL | None = None
        self._loaded = False

    def library(self) -> ctypes.CDLL | None:
        if self.choice not in {"auto", "c", "numpy"}:
            raise ShoalError("bad-kernels", "SHOAL_KERNELS must be c, numpy or auto.")
        if self.choice == "numpy":
            return None
        if not self._loaded:
            self._library = load(_library_path(), _HERE / "c")
            self._loaded = True
        if self._library is None and self.choice == "c":
            raise NotInstalledError("no-core", "SHOAL_KERNELS is c, but the C core of shoal is not installed.")
        return self._library


def _library_path() -> Path:
    """Return the path of the library.

    ``SHOAL_KERNELS_LIBRARY`` overrides it with another build of the same sources, such as a sanitizer build.
    """
    return Path(os.environ.get("SHOAL_KERNELS_LIBRARY", _HERE / f"_core{_SUFFIX}"))


_selection = _Selection(os.environ.get("SHOAL_KERNELS", "auto"))


def core() -> ctypes.CDLL | None:
    """Return the C core, or None if the numpy implementation is to be used."""
    return _selection.library()


def address(array: NDArray[Any]) -> int:
    """Return the address of an array that the C core reads or writes; the array must be contiguous.

    The address comes from Arrow, which takes a quarter of the time that numpy takes.

    >>> import numpy as np
    >>> numbers = np.arange(6)
    >>> address(numbers[1:]) - address(numbers)
    8
    >>> address(numbers[::2])
    Traceback (most recent call last):
    ...
    ValueError: ndarray is not contiguous
    """
    return int(pa.py_buffer(array).address)


@contextmanager
def using(choice: Choice) -> Iterator[None]:
    """Switch the kernels temporarily, as the tests do."""
    before, _selection.choice = _selection.choice, choice
    try:
        yield
    finally:
        _selection.choice = before
