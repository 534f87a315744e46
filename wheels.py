"""Build the wheels of a release for every system that is supported, and look into each of them.

    python wheels.py [FOLDER]

Needs what ``pip install --group dev`` brings. The wheel of this machine is loaded; of the others it is checked that
their library is for the right system and processor and has every function that Python calls. All are built in a copy
of the checkout, so that its own library stays what it is.
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import hatch_build
import lief

HERE = Path(__file__).parent
KINDS = {".so": lief.ELF.Binary, ".dylib": lief.MachO.Binary, ".dll": lief.PE.Binary}
PROCESSORS = {
    "x86_64": {"X86_64", "AMD64"},
    "arm64": {"AARCH64", "ARM64"},
}


def called() -> set[str]:
    """Return the functions that Python calls."""
    text = (HERE / "src/shoal/kernels/library.py").read_text(encoding="utf-8")
    return set(re.findall(r'"(shoal_\w+)": \(', text))


def copied(folder: Path) -> Path:
    """Copy what a wheel is built of."""
    shutil.copytree(HERE / "src", folder / "src", ignore=shutil.ignore_patterns("_core.*", "__pycache__"))
    for name in (".gitignore", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(HERE / name, folder)
    return folder


def built(name: str, root: Path, folder: Path) -> Path:
    """Build the wheel for a machine."""
    before = set(folder.glob("*.whl"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder), str(root)]
    subprocess.run(command, check=True, env={**os.environ, "SHOAL_TARGET": name}, stdout=subprocess.DEVNULL)
    (wheel,) = set(folder.glob("*.whl")) - before
    return wheel


def library(wheel: Path, suffix: str) -> bytes:
    """Return the one library that a wheel holds."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.startswith("shoal/kernels/_core")]
        if not name.endswith(suffix):
            raise SystemExit(f"{wheel.name} holds {name}")
        return archive.read(name)


def check(name: str, wheel: Path) -> int:
    """Look into a wheel; return how many functions its library has."""
    _, tag, suffix = hatch_build.TARGETS[name]
    if tag not in wheel.name:
        raise SystemExit(f"{wheel.name} is not tagged {tag}")
    found = lief.parse(list(library(wheel, suffix)))
    if not isinstance(found, KINDS[suffix]):
        raise SystemExit(f"{wheel.name} holds a library of another system")
    field = {".so": "machine_type", ".dylib": "cpu_type", ".dll": "machine"}[suffix]
    processor = str(getattr(found.header, field)).rsplit(".", 1)[-1]
    if processor not in PROCESSORS[name.rsplit("-", 1)[1]]:
        raise SystemExit(f"{wheel.name} is for {processor}")
    there = {str(one.name if hasattr(one, "name") else one).removeprefix("_") for one in found.exported_functions}
    missing = called() - there
    if missing:
        raise SystemExit(f"{wheel.name} lacks {min(missing)} and {len(missing) - 1} more")
    return len(there & called())


def load(wheel: Path, suffix: str) -> None:
    """Load the library of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"core{suffix}"
        file.write_bytes(library(wheel, suffix))
        core = ctypes.CDLL(str(file))
        for name in called():
            getattr(core, name)


def main() -> None:
    """Build and check all of them."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    own = hatch_build.target()
    with tempfile.TemporaryDirectory() as copy:
        root = copied(Path(copy))
        for name, target in hatch_build.TARGETS.items():
            wheel = built(name, root, folder)
            functions = check(name, wheel)
            if target == own:
                load(wheel, target[2])
            size = wheel.stat().st_size // 1024
            print(f"{wheel.name}: {functions} functions, {size} KB{', loaded' * (target == own)}")


if __name__ == "__main__":
    main()
