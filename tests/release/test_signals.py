"""A save that is ended at any moment leaves the old release or the new one, and nothing else that a reader accepts."""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.effort import per_profile, tiered

CASES = sorted(product(["single", "dataset"], ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]), key=lambda case: case[1])


@pytest.mark.hypothesis  # the nightly profile places all signals at every event
@pytest.mark.parametrize(("kind", "signal"), tiered(CASES, quick=2))
def test_a_save_that_is_ended_at_any_file_event(kind, signal):
    seldom = signal in {"SIGINT", "SIGHUP"}  # they are handled as SIGTERM is
    step = per_profile(quick=2, exhaustive=4 if seldom else 2, nightly=1)
    command = [sys.executable, "-m", "tests.placed_signals", kind, signal, str(step)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["events"] > 10 / step
    assert (found["mixed"], found["left"], found["unnamed"]) == ([], [], [])
    assert (found["refused"] > 0) == (signal == "SIGKILL")  # who is killed between two renames leaves a mixed set
