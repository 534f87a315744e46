"""Real servers for the tests: each is started in a folder of its own, on loopback, and ended with the tests."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

PASSWORD = f"geheim:/@{secrets.token_hex(4)}"  # what a URL must not stumble over


@dataclass(frozen=True)
class Running:
    """A server that runs: its URL without a password, how to reach it as the tests do, and how to end a connection."""

    url: str
    admin: sa.Engine
    others: str  # the connections of others
    end: str  # what ends one of them

    def cut(self) -> int:
        """End all other connections; return how many there were."""
        with self.admin.connect() as connection:
            numbers = [row[0] for row in connection.execute(sa.text(self.others))]
            for number in numbers:
                connection.execute(sa.text(self.end.format(number)))
            return len(numbers)

    def run(self, *statements: str) -> None:
        with self.admin.begin() as connection:
            for statement in statements:
                connection.execute(sa.text(statement))

    def rows(self, query: str) -> list[tuple]:
        with self.admin.connect() as connection:
            return [tuple(row) for row in connection.execute(sa.text(query))]

    def tables(self) -> list[str]:
        return sorted(sa.inspect(self.admin).get_table_names())


@pytest.fixture(scope="session")
def servers() -> None:
    """What every test with a server asks for: these tests run in one process, in which each server is started once."""


@pytest.fixture(scope="session")
def postgresql(servers: None) -> Iterator[Running]:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("PostgreSQL is not installed")
    with _folder("postgres") as folder:
        data, port = folder / "data", _port()
        (folder / "password").write_text(PASSWORD)
        shutil.chown(folder / "password", *_owner("postgres"))
        _run("postgres", programs[-1] / "initdb", "-D", data, "-U", "shoal", "-A", "scram-sha-256", "-E", "UTF8",
             "--pwfile", folder / "password", "--no-sync", "--locale=C.UTF-8")  # fmt: skip
        settings = ("-h", "127.0.0.1", "-p", port, "-k", folder, "-c", "fsync=off", "-c", "timezone=Asia/Tokyo")
        url = sa.URL.create("postgresql+psycopg", "shoal", PASSWORD, "127.0.0.1", port, "postgres")
        with _started("postgres", url, programs[-1] / "postgres", "-D", data, *settings) as admin:
            yield Running(
                f"postgresql://shoal@127.0.0.1:{port}/postgres",
                admin,
                "SELECT pid FROM pg_stat_activity WHERE usename = 'shoal' AND pid <> pg_backend_pid()",
                "SELECT pg_terminate_backend({})",
            )


@pytest.fixture(scope="session")
def mariadb(servers: None) -> Iterator[Running]:
    program = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
    if program is None:
        pytest.skip("MariaDB is not installed")
    with _folder("mysql") as folder:
        data, port, start = folder / "data", _port(), folder / "start.sql"
        _run(
            "mysql",
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
        )
        start.write_text(
            f"CREATE USER shoal@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
            "GRANT ALL ON *.* TO shoal@'127.0.0.1';\n"
            "CREATE DATABASE hospital CHARACTER SET latin1;\n"
        )
        shutil.chown(start, *_owner("mysql"))
        url = sa.URL.create("mysql+pymysql", "shoal", PASSWORD, "127.0.0.1", port, "hospital")
        settings = ("--bind-address=127.0.0.1", f"--port={port}", f"--socket={folder / 'socket'}",
                    f"--init-file={start}", "--default-time-zone=+09:00", "--skip-name-resolve")  # fmt: skip
        with _started("mysql", url, program, "--no-defaults", f"--datadir={data}", *settings) as admin:
            yield Running(
                f"mariadb://shoal@127.0.0.1:{port}/hospital",
                admin,
                "SELECT id FROM information_schema.processlist WHERE user = 'shoal' AND id <> connection_id()",
                "KILL {}",
            )


@pytest.fixture(params=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest, servers: None, monkeypatch: pytest.MonkeyPatch) -> Running:
    """Each server, empty, with its password in the environment."""
    running: Running = request.getfixturevalue(request.param)
    for name in running.tables():
        running.run(f"DROP TABLE {running.admin.dialect.identifier_preparer.quote(name)}")
    monkeypatch.setenv("SHOAL_PASSWORD", PASSWORD)
    return running


def _owner(user: str) -> tuple[str, str]:
    return (user, user) if os.geteuid() == 0 else (None, None)


@contextmanager
def _folder(user: str) -> Iterator[Path]:
    """A folder that the server may write to; its path is short, as sockets need it."""
    with tempfile.TemporaryDirectory(prefix="shoal-server-", ignore_cleanup_errors=True) as name:
        if os.geteuid() == 0:
            shutil.chown(name, *_owner(user))
        yield Path(name)


def _command(user: str, *words: object) -> Sequence[str]:
    return [*(["setpriv", "--reuid", user, "--regid", user, "--clear-groups"] if os.geteuid() == 0 else []),
            *map(str, words)]  # fmt: skip


def _run(user: str, *words: object) -> None:
    done = subprocess.run(_command(user, *words), check=False, capture_output=True, text=True, cwd="/", timeout=120)
    assert done.returncode == 0, f"{words[0]} failed: {done.stderr or done.stdout}"


@contextmanager
def _started(user: str, url: sa.URL, *words: object) -> Iterator[sa.Engine]:
    admin = sa.create_engine(url, poolclass=sa.NullPool)
    process = subprocess.Popen(_command(user, *words), cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(admin, process)
        yield admin
    finally:
        process.send_signal(signal.SIGINT if user == "postgres" else signal.SIGTERM)  # it does not wait for others
        process.wait(60)


def _wait(admin: sa.Engine, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "the server has ended"
        try:
            admin.connect().close()
        except sa.exc.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not answer")


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
