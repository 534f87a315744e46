"""DuckDB files: one table of a database, whose rows can stay in the file."""

from pathlib import Path

from shoal.engines.duckdb import DuckDatabase, quoted
from shoal.progress import Hook
from shoal.table.formats.format import FORMATS, Format, check_options
from shoal.table.formats.typed import read_columns
from shoal.table.options import Options
from shoal.table.outside import check_duckdb, read_by_duckdb
from shoal.table.table import Table


class Duckdb(Format):
    """A table of a DuckDB file."""

    name = "duckdb"
    suffixes, writes = (".duckdb", ".ddb"), ()  # not written: identical tables would not give identical bytes

    def read(self, path: Path, options: Options, progress: Hook) -> Table:
        """Read and encode the columns one by one."""
        database = self._opened(path, options)
        reading = read_columns(
            database.schema(),
            lambda name: database.query(f"SELECT {quoted(name)} FROM t").column(0),  # noqa: S608 - quoted
            options,
            progress,
        )
        return reading.table(self.name)

    def counted(self, files: tuple[Path, ...], options: Options, progress: Hook) -> Table:
        """Return a table whose rows DuckDB counts in place."""
        if len(files) > 1 or options.engine != "duckdb":
            return super().counted(files, options, progress)
        return read_by_duckdb(self._opened(files[0], options), options, progress, self.name)

    def _opened(self, path: Path, options: Options) -> DuckDatabase:
        check_options(options, self.name, ("table",))
        check_duckdb()
        return DuckDatabase.of_file(path, options.table)


FORMATS.register("duckdb")(Duckdb())
