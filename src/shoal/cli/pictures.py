"""Pictures in a folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.output import remark
from shoal.errors import WriteError

if TYPE_CHECKING:
    from shoal.charts import Chart


def draw(folder: Path, charts: "Mapping[str, Chart]", *, force: bool, kinds: tuple[str, ...] = (".svg",)) -> None:
    """Draw pictures into a folder, each into a file of its name; none of them if one may not be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise WriteError(f"'{folder}' is a file, not a folder.", hint="Give a folder: --pictures FOLDER.")
    files = {name: _file(name) for name in charts}
    if len({*files.values()}) < len(files):
        raise WriteError("Two pictures would have the same name.", hint="Rename one of the tables or columns.")
    paths = {folder / f"{file}{kind}": charts[name] for name, file in files.items() for kind in kinds}
    taken = [path for path in paths if path.exists()]
    if taken and not force:
        raise WriteError(f"'{taken[0]}' is already there.", hint="Say --force to overwrite it.")
    folder.mkdir(parents=True, exist_ok=True)
    for path, chart in paths.items():
        chart.save(path, force=force)
    remark(f"Pictures are in {folder}.")


def _file(name: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in name)
