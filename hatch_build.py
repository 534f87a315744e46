"""Build hook: compiles the C core with zig from PyPI, so that no machine needs a compiler of its own.

A wheel that holds the core is tagged for its platform and for every Python 3. On a platform without zig the
wheel is pure Python and the numpy twins do the work.
"""

import hashlib
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = Path("src/shoal/kernels")

# (system, machine) -> (zig target, platform tag of the wheel, suffix). The target names the oldest system
# that is supported and the baseline of the processor family: without it, zig bakes in the builder's own.
TARGETS = {
    ("Linux", "x86_64"): ("x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64", ".so"),
    ("Linux", "aarch64"): ("aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64", ".so"),
    ("Darwin", "x86_64"): ("x86_64-macos.11.0", "macosx_11_0_x86_64", ".dylib"),
    ("Darwin", "arm64"): ("aarch64-macos.11.0", "macosx_11_0_arm64", ".dylib"),
    ("Windows", "AMD64"): ("x86_64-windows-gnu", "win_amd64", ".dll"),
}


def target() -> tuple[str, str, str] | None:
    """Return zig's name of this machine, the wheel's tag and the library's suffix."""
    system = platform.system()
    if system == "Linux" and platform.libc_ver()[0] != "glibc":
        return None
    return TARGETS.get((system, platform.machine()))


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
        zig_target, tag, suffix = chosen
        library = KERNELS / f"_core{suffix}"
        self.compile(zig_target, library)
        # Git ignores the library: unless it is named here it would silently be left out.
        build_data["artifacts"].append(library.as_posix())
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"

    def compile(self, zig_target: str, library: Path) -> None:
        """Run zig beside the library and rename: a running process keeps the file that it has open."""
        root = Path(self.root)
        sources = sorted((root / KERNELS / "c").iterdir())
        digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
        fresh = root / library.with_name(f"fresh{library.suffix}")
        command = [
            *(sys.executable, "-m", "ziglang", "cc", "-target", zig_target),
            *("-O3", "-std=c11", "-shared", "-fPIC", "-s", "-fvisibility=hidden"),
            *(f'-DSHOAL_SOURCE_HASH="{digest}"', "-o", str(fresh)),
            *(str(source) for source in sources if source.suffix == ".c"),
        ]
        subprocess.run(command, check=True)
        fresh.replace(root / library)
