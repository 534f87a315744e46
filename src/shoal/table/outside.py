"""Tables whose rows stay outside of memory: only the different values of each column, and distinct rows, come in."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.engines.duckdb import Database, Dictionary, DuckdbEngine, one_zero
from shoal.errors import ReadError
from shoal.progress import Hook, Progress
from shoal.table.encoding import encode
from shoal.table.kind import kind_of
from shoal.table.names import check_names, without_index
from shoal.table.options import Options
from shoal.table.raw import Encoded
from shoal.table.table import Source, Table


def read_outside(path: Path, options: Options, progress: Hook, origin: str) -> Table:
    """Read the columns of a file, value by value; its rows are counted where they are."""
    if _lacks_duckdb():
        raise ReadError("DuckDB is not installed here.", hint="pip install 'shoal[duckdb]'")
    database = Database(path)
    schema = database.schema()
    names = without_index(schema.names)
    check_names(names)
    encoded: dict[str, Encoded] = {}
    dictionaries: dict[str, Dictionary] = {}
    for done, name in enumerate(names):
        kind_of(schema.field(name).type, name)
        progress(Progress("reading", done, len(names)))
        encoded[name], dictionaries[name] = _column(name, database, options)
    notes = ("The rows stay in the file; DuckDB counts them.",)
    engine = DuckdbEngine(database, dictionaries, database.rows())
    return Table(tuple(held.column for held in encoded.values()), engine, source=Source(origin, notes=notes))


def _lacks_duckdb() -> bool:
    from importlib.util import find_spec

    return find_spec("duckdb") is None


def _column(name: str, database: Database, options: Options) -> tuple[Encoded, Dictionary]:
    """Encode the different values of a column: their codes are the codes of all cells that hold them."""
    different = database.values(name)
    values = one_zero(pa.concat_arrays([pa.array([], different.type), *different.chunks])).drop_null()
    with_null = different.null_count > 0
    cells = pa.concat_arrays([values, pa.nulls(1, values.type)]) if with_null else values
    encoded = encode(name, pa.chunked_array([cells]), options)
    null = int(encoded.codes[-1]) if with_null else 0
    codes = encoded.codes[: len(values)].astype(np.uint32)
    return encoded, Dictionary(values, codes, null, max(encoded.column.size, 1))
