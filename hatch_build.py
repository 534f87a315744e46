"""Build hook: compiles the C core with zig from PyPI, so that no machine needs a compiler of its own.

A wheel that holds the core is tagged for its platform and for every Python 3. On a platform without zig the
wheel is pure Python and the numpy twins do the work.
"""

import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path("src/shoal/kernels")
ALONE = ("-nostdlib", "--rtlib=compiler-rt")  # Windows: no C runtime, which zig would compile first (c/windows.c)

# name -> (zig target, platform tag of the wheel, suffix). The target names the oldest system that is supported and
# the baseline of the processor family: without it, zig bakes in the builder's own.
TARGETS = {
    "linux-glibc-x86_64": ("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", ".so"),
    "linux-glibc-arm64": ("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", ".so"),
    "linux-musl-x86_64": ("x86_64-linux-musl", "musllinux_1_2_x86_64", ".so"),
    "linux-musl-arm64": ("aarch64-linux-musl", "musllinux_1_2_aarch64", ".so"),
    "macos-x86_64": ("x86_64-macos.11.0", "macosx_11_0_x86_64", ".dylib"),
    "macos-arm64": ("aarch64-macos.11.0", "macosx_11_0_arm64", ".dylib"),
    "windows-x86_64": ("x86_64-windows-gnu", "win_amd64", ".dll"),
    "windows-arm64": ("aarch64-windows-gnu", "win_arm64", ".dll"),
}
_PROCESSORS = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
_SYSTEMS = {"Darwin": "macos", "Windows": "windows"}


def target() -> tuple[str, str, str] | None:
    """Return zig's name of the machine, the wheel's tag and the library's suffix: those of this machine, or as asked.

    ``SHOAL_TARGET`` names another machine to build for.
    """
    libc = "glibc" if platform.libc_ver()[0] == "glibc" else "musl"
    system = f"linux-{libc}" if platform.system() == "Linux" else _SYSTEMS.get(platform.system())
    here = f"{system}-{_PROCESSORS.get(platform.machine().lower())}"
    asked = os.environ.get("SHOAL_TARGET")
    if asked and asked not in TARGETS:
        raise ValueError(f"SHOAL_TARGET must be one of {', '.join(TARGETS)}")
    return TARGETS.get(asked or here)


def compile_core(root: Path, chosen: tuple[str, str, str]) -> Path:
    """Compile the core into a checkout for a machine; return the library.

    Zig writes beside the library, which is then renamed: a running process keeps the file that it has open.
    """
    zig_target, _, suffix = chosen
    library = root / KERNELS / f"_core{suffix}"
    sources = sorted((root / KERNELS / "c").iterdir())
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    with tempfile.TemporaryDirectory(dir=root / KERNELS) as folder:  # Windows gets more files than are wanted
        fresh = Path(folder) / library.name
        command = [
            *(sys.executable, "-m", "ziglang", "cc", "-target", zig_target),
            "-ffp-contract=off",  # products are rounded, as those of numpy are
            *("-O3", "-std=c11", "-shared", "-fPIC", "-s", "-fvisibility=hidden"),
            *(ALONE if suffix == ".dll" else ()),
            *(f'-DSHOAL_SOURCE_HASH="{digest}"', "-o", str(fresh)),
            *(str(source) for source in sources if source.suffix == ".c"),
        ]
        subprocess.run(command, check=True)
        fresh.replace(library)
    return library


class CustomBuildHook(BuildHookInterface[Any]):
    """Compile the C core into the package, before the wheel is put together."""

    def dependencies(self) -> list[str]:
        """Ask for the compiler only where there is one."""
        return ["ziglang>=0.15"] if target() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and tell the wheel what it now holds."""
        del version
        chosen = target()
        if chosen is None:
            print("shoal: no C core for this platform; the numpy kernels will be used", file=sys.stderr)
            return
        library = compile_core(Path(self.root), chosen)
        # Git ignores the library: unless it is named here it would silently be left out.
        build_data["artifacts"].append(library.relative_to(self.root).as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{chosen[1]}"
