"""Files with typed columns, read and encoded one by one."""

from collections.abc import Callable

import pyarrow as pa

from shoal.progress import Hook, Progress
from shoal.table.encoding import encode
from shoal.table.formats.format import Reading
from shoal.table.options import Options
from shoal.table.schema import columns_of


def read_columns(
    schema: pa.Schema, column: Callable[[str], pa.ChunkedArray], options: Options, progress: Hook
) -> Reading:
    """Encode the columns of a typed file one by one; ``column(name)`` returns the cells of a column."""
    names, notes = columns_of(schema, options)
    encoded = []
    for done, name in enumerate(names):
        progress(Progress("reading", done, len(names)))
        cells = column(name)
        cells.validate(full=True)  # damaged bytes must not reach the kernels
        encoded.append(encode(name, cells, options))
    return Reading(encoded, len(encoded[0].codes) if encoded else 0, notes=notes)
