"""The workbench with a million records: how long pages take while something else is under way.

    python benchmarks/workbench.py [--rows 1000000]

``shoal serve`` runs as a process of its own. Every kind of long work is begun, and while it runs all pages are asked
for, one after the other, again and again; the slowest answer of each is printed, with the server's peak of memory. At
last ten searches are begun and stopped, and what they leave behind is counted.
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np

import shoal

PAGES = ("load", "identify", "assess", "protect", "compare", "attack", "release")
PARTS = ("assess/threshold?k=11", "assess/person?part=30", "protect/results", "protect/ladders", "protect/explored")
POLICY = """
version = 1
[columns]
age = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 10, 20] } }
sex = "quasi"
zip = { role = "quasi", hierarchy = { kind = "prefix", keep = [3, 2, 1] } }
ethnicity = "quasi"
marital = "quasi"
smoker = "quasi"
children = { role = "quasi", hierarchy = { kind = "interval", widths = [2, 4] } }
dx = "sensitive"
lab = "insensitive"
cost = "insensitive"
[[require]]
model = "k-anonymity"
k = 11
[search]
suppression = 0.02
"""


def write_table(path, rows):
    rng = np.random.default_rng(0)
    held = {
        "age": rng.integers(18, 95, rows),
        "sex": rng.choice(["f", "m"], rows),
        "zip": rng.integers(1000, 9999, rows).astype(str),
        "ethnicity": rng.choice(list("abcde"), rows, p=[0.6, 0.2, 0.1, 0.07, 0.03]),
        "marital": rng.choice(list("smdw"), rows),
        "smoker": rng.choice(["yes", "no"], rows),
        "children": rng.poisson(1.5, rows),
        "dx": rng.choice([f"d{number}" for number in range(30)], rows),
        "lab": rng.normal(100, 15, rows).round(1),
        "cost": rng.lognormal(7, 1, rows).round(2),
    }
    shoal.write(shoal.read(held), path)


class Client:
    """A browser without eyes, and with a watch."""

    def __init__(self, link):
        self.address = urlsplit(link).netloc
        self.slowest, self.answers = {}, 0
        _, headers, _ = self._send("GET", f"{urlsplit(link).path}?{urlsplit(link).query}", {})
        self._cookie = headers["set-cookie"].split(";")[0]
        self._header = json.loads(re.search(r"hx-headers:inherited='([^']+)'", self.get("load"))[1])

    def _send(self, method, path, headers, body=None):
        line = http.client.HTTPConnection(self.address, timeout=300)
        line.request(method, path, body, headers)
        answer = line.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def get(self, page, during=None):
        before = time.perf_counter()
        status, _, text = self._send("GET", f"/{page}", {"cookie": self._cookie})
        if during is not None:
            told = self.slowest.setdefault(during, {})
            told[page] = max(told.get(page, 0.0), time.perf_counter() - before)
            self.answers += 1
        return text if status == 200 else ""

    def post(self, path, **form):
        headers = {"cookie": self._cookie, "content-type": "application/x-www-form-urlencoded", **self._header}
        return self._send("POST", f"/{path}", headers, urlencode(form, doseq=True))

    def settled(self, page):
        while 'class="job"' in self.get(page):
            time.sleep(0.1)


def job_of(text):
    found = re.search(r"/job/(\d+)/cancel", text)
    return None if found is None else int(found[1])


def walk(client, during, page):
    """Ask for all pages until the work that a page waits for is done."""
    begun = time.perf_counter()
    while job_of(client.get(page, during)) is not None:
        for one in (*PAGES, *PARTS):
            client.get(one, during)
    return round(time.perf_counter() - begun, 1)


def memory(process, what):
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return round(int(re.search(rf"{what}:\s+(\d+)", status)[1]) / (2**20 if what.startswith("Vm") else 1), 2)


def measured(process, client, given):
    took = {"read": walk(client, "read", "load"), "identify": walk(client, "identify", "identify")}
    took["assess"] = walk(client, "assess", "assess")
    for name, path, page in (
        ("peers", "assess/peers", "assess"),
        ("search", "protect/begin/anonymize", "protect/results"),
        ("frontier", "protect/begin/frontier", "protect/results"),
        ("schemes", "protect/begin/schemes", "protect/results"),
        ("compare", None, "compare"),
        ("attack", "attack", "attack"),
        ("release", None, "release"),
    ):
        if path is not None:
            client.post(path, **({"attack": ["linkage", "homogeneity"]} if name == "attack" else {}))
        took[name] = walk(client, name, page)
    for page in PAGES:
        client.settled(page)
    held, threads = memory(process, "VmRSS"), memory(process, "Threads")
    for number in range(10):
        client.post("protect/begin/anonymize", recoding="local", suppression="0.02", seed=str(number + 1))
        client.post(f"job/{job_of(client.get('protect/results'))}/cancel")
    client.settled("protect/results")
    time.sleep(3)
    stopped = memory(process, "VmRSS"), memory(process, "Threads")
    for k in range(2, 12):
        client.post("protect/choose", k=str(k))
        client.post("protect/begin/anonymize", recoding="global", suppression="0.02")
        client.settled("protect/results")
    return {
        "rows": given.rows,
        "load": os.getloadavg()[0],
        "seconds of work, pages asked for beside it": took,
        "answers": client.answers,
        "slowest answer in seconds": {
            during: {page: round(seconds, 2) for page, seconds in told.items()}
            for during, told in client.slowest.items()
        },
        "slowest": round(max(max(told.values()) for told in client.slowest.values()), 2),
        "GiB before, after ten searches that were stopped, after ten more": [
            held,
            stopped[0],
            memory(process, "VmRSS"),
        ],
        "threads before and after those that were stopped": [threads, stopped[1]],
        "peak GiB": memory(process, "VmHWM"),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, policy = Path(folder) / "data.csv", Path(folder) / "policy.toml"
        write_table(data, given.rows)
        policy.write_text(POLICY, encoding="utf-8")
        command = [sys.executable, "-m", "shoal", "serve", data, "-p", policy, "--project", f"{folder}/p"]
        process = subprocess.Popen([*command, "--no-browser"], stderr=subprocess.PIPE, text=True)
        try:
            link = next(found[0] for line in process.stderr if (found := re.search(r"http://\S+", line)))
            sys.stdout.write(json.dumps(measured(process, Client(link), given), indent=2) + "\n")
        finally:
            process.terminate()
            process.wait(30)


if __name__ == "__main__":
    main()
