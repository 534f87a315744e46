"""Files whose columns have types: read and encoded one after the other."""

from collections.abc import Callable

import pyarrow as pa

from shoal.progress import Hook, Progress
from shoal.table.encoding import encode
from shoal.table.formats.format import Reading
from shoal.table.kind import kind_of
from shoal.table.names import check_names, without_index
from shoal.table.options import Options


def names_of(schema: pa.Schema, options: Options) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns to read, and what is to be said about others; refuse what cannot be encoded."""
    names = without_index(schema.names)
    check_names(names)
    notes = ("A row index that pandas had stored was left out.",) if len(names) < len(schema) else ()
    chosen = [name for name in names if not options.columns or name in options.columns]
    for name in chosen:
        kind_of(schema.field(name).type, name)
    return chosen, notes


def read_columns(
    schema: pa.Schema, column: Callable[[str], pa.ChunkedArray], options: Options, progress: Hook
) -> Reading:
    """Encode the columns of a typed file one after the other; ``column(name)`` brings one."""
    names, notes = names_of(schema, options)
    encoded = []
    for done, name in enumerate(names):
        progress(Progress("reading", done, len(names)))
        cells = column(name)
        cells.validate(full=True)  # damaged bytes must not reach the kernels
        encoded.append(encode(name, cells, options))
    return Reading(encoded, len(encoded[0].codes) if encoded else 0, notes=notes)
