"""The schema of a typed source: the columns that are read from it."""

import pyarrow as pa

from shoal.table.kind import kind_of
from shoal.table.names import check_names, without_index
from shoal.table.options import Options


def columns_of(schema: pa.Schema, options: Options) -> tuple[list[str], tuple[str, ...]]:
    """Return the columns to read, and what is to be said about others; refuse what cannot be encoded."""
    names = without_index(schema.names)
    check_names(names)
    notes = ("A row index stored by pandas was omitted.",) if len(names) < len(schema) else ()
    chosen = [name for name in names if not options.columns or name in options.columns]
    for name in chosen:
        kind_of(schema.field(name).type, name)
    return chosen, notes
