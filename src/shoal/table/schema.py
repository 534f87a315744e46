"""Schema of a typed source: the columns to read."""

import pyarrow as pa

from shoal.table.kind import kind_of
from shoal.table.names import check_names, without_index
from shoal.table.options import Options
from shoal.table.reading_note import Concern, ReadingNote

_INDEX = ReadingNote("A row index stored by pandas was omitted.", Concern.COLUMNS)


def columns_of(schema: pa.Schema, options: Options) -> tuple[list[str], tuple[ReadingNote, ...]]:
    """Return the columns to read, and notes on omitted ones; reject types that cannot be encoded."""
    names = without_index(schema.names)
    check_names(names)
    notes = () if len(names) == len(schema) else (_INDEX,)
    chosen = [name for name in names if not options.columns or name in options.columns]
    for name in chosen:
        kind_of(schema.field(name).type, name)
    return chosen, notes
