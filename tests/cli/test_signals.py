"""Whoever ends a command: nothing that is half done is left, and no traceback is shown."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

COMMAND = """
    import os, signal, tempfile, time
    from shoal import cli
    from shoal.cli import app as module

    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it

    def work():
        with tempfile.TemporaryDirectory() as folder:
            print(folder, flush=True)
            os.kill(os.getpid(), signal.{name})
            time.sleep(20)

    module.app = work
    cli.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_what_is_half_done_is_tidied_up(name, code):
    command = [sys.executable, "-c", textwrap.dedent(COMMAND).format(name=name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (code, "")
    assert not Path(done.stdout.strip()).exists()
