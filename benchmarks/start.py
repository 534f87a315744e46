"""What it costs to begin: ``import shoal`` and ``shoal --help``, in CPU seconds of a process of its own.

python benchmarks/start.py        (with shoal installed from a wheel, and its bytecode compiled)
"""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "import shoal": [sys.executable, "-c", "import shoal"],
    "shoal --help": [str(Path(sys.executable).with_name("shoal")), "--help"],
    "shoal init --help": [str(Path(sys.executable).with_name("shoal")), "init", "--help"],
}


def cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    taken = {name: [cpu(command) for _ in range(7)][2:] for name, command in COMMANDS.items()}
    result = {name: round(median(times), 3) for name, times in taken.items()}
    result["import shoal alone"] = round(result["import shoal"] - result["python"], 3)
    print(json.dumps({"load": os.getloadavg()[0], "cpu_seconds": result}, indent=2))


if __name__ == "__main__":
    main()
