"""A workbench that listens on this machine, and a browser without eyes."""

import http.client
import re
import threading
import time
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the workbench needs starlette and uvicorn: shoal[web]")

import uvicorn

from shoal.web.app import application
from shoal.web.guard import HEADER, Keys, cookie_name
from shoal.web.project import Basis, Project
from shoal.web.server import ADDRESS, _listening

DATA = "age;sex;dx\n" + "".join(f"{20 + place % 40};{'fm'[place % 2]};{'abc'[place % 3]}\n" for place in range(120))


class Server:
    """A running workbench."""

    def __init__(self, project, *, most=1_000_000):
        self.project, self.keys = project, Keys()
        self._door = _listening(0)
        self.port = self._door.getsockname()[1]
        app = application(project, self.keys, self.port, most=most)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, ws="none"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._door]}, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def ask(self, method, path, *, body=None, headers=None, **options):
        """Send a request as a page of ours does, unless something else is said."""
        host = options.get("host", f"{ADDRESS}:{self.port}")
        sent = {
            "host": host,
            "cookie": f"{cookie_name(self.port)}={self.keys.session}",
            HEADER: self.keys.header,
            **(headers or {}),
        }
        sent = {name: value for name, value in sent.items() if value is not None}
        if isinstance(body, dict):
            body = urlencode(body, doseq=True)
            sent["content-type"] = "application/x-www-form-urlencoded"
        line = http.client.HTTPConnection(ADDRESS, self.port, timeout=30)
        line.request(method, path, body, sent)
        answer = line.getresponse()
        answer.text = answer.read().decode("utf-8", "replace")
        line.close()
        return answer

    def page(self, path, seconds=30):
        """Return a page when nothing on it is under way any more."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            answer = self.ask("GET", path)
            if not re.search(r'class="job"', answer.text):
                return answer
            time.sleep(0.05)
        raise AssertionError("the page is still waiting")

    def upload(self, name, content, *, path="/load", field="file", **form):
        """Send a file, and what else is in the form."""
        edge = "----edge"
        parts = [
            f'--{edge}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in form.items()
        ]
        head = f'--{edge}\r\ncontent-disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
        body = b"".join(parts) + head.encode() + content + f"\r\n--{edge}--\r\n".encode()
        return self.ask("POST", path, body=body, headers={"content-type": f"multipart/form-data; boundary={edge}"})

    def decide(self, **roles):
        """Choose roles by the names of columns; others are as they are proposed."""
        text = self.page("/identify").text
        form = {"columns": re.search(r'name="columns" value="(\w+)"', text)[1]}
        found = self.project.now.result("identify", Basis.FILE)
        for place, (name, one) in enumerate(found.columns.items()):
            form[f"role:{place}"] = roles.get(name, str(one.role))
            if roles.get(f"{name}_nobody"):
                form[f"nobody:{place}"] = "on"
        return self.ask("POST", "/identify", body=form)

    def searched(self, **settings):
        """Search, and wait for what comes of it."""
        self.ask("POST", "/protect/begin/anonymize", body={"settings": "1", **settings})
        return self.page("/protect/results").text

    def close(self):
        self._server.should_exit = True
        self._thread.join(10)
        self.project.close()


@pytest.fixture
def served(tmp_path):
    """Return a workbench with a table and nothing decided."""
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    server = Server(Project.open(tmp_path / "project", tmp_path / "data.csv"))
    yield server
    server.close()


@pytest.fixture
def empty():
    server = Server(Project.open())
    yield server
    server.close()
