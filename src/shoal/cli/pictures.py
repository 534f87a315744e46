"""Pictures written to a folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli.output import remark
from shoal.errors import WriteError
from shoal.remedy import Option

if TYPE_CHECKING:
    from shoal.charts import Chart


def draw(folder: Path, charts: "Mapping[str, Chart]", *, force: bool, kinds: tuple[str, ...] = (".svg",)) -> None:
    """Draw each picture into a file of its name in a folder.

    No picture is drawn if one of the files exists and ``force`` is not set.
    """
    if folder.exists() and not folder.is_dir():
        raise WriteError(
            "not-a-folder", "'{path}' is a file, not a folder.", remedy="Give a folder with --pictures.", path=folder
        )
    files = {name: _file(name) for name in charts}
    if len({*files.values()}) < len(files):
        raise WriteError(
            "same-name", "Two charts would have the same file name.", remedy="Rename one of the tables or columns."
        )
    paths = {folder / f"{file}{kind}": charts[name] for name, file in files.items() for kind in kinds}
    taken = [path for path in paths if path.exists()]
    if taken and not force:
        raise WriteError("file-exists", "'{path}' already exists.", remedy=Option("force", True), path=taken[0])
    folder.mkdir(parents=True, exist_ok=True)
    for path, chart in paths.items():
        chart.save(path, force=force)
    remark(f"Charts are in {folder}.")


def _file(name: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in name)
