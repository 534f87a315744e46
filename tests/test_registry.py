"""Registries: complete, whoever asks first."""

import subprocess
import sys

from shoal.table.formats.format import FORMATS

ASKING = """
import threading
from shoal.table.formats.format import FORMATS
found = []
threads = [threading.Thread(target=lambda: found.append(len(list(FORMATS)))) for _ in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(*set(found))
"""


def test_two_threads_that_ask_at_once_both_see_everything():
    done = subprocess.run([sys.executable, "-c", ASKING], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(len(list(FORMATS)))]
