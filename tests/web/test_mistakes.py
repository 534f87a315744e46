"""What went wrong once: results of another policy, uploads that meet, forms that lose something, odd requests."""

import gzip
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest
from tests.effort import tiered
from tests.web.conftest import DATA, Server

import shoal
from shoal.errors import PolicyError, WriteError
from shoal.policy.policy import Policy
from shoal.web.jobs import Jobs, State
from shoal.web.project import Basis, Project


def asked(server, k):
    server.ask("POST", "/protect/choose", body={"k": str(k)})
    return server.searched()


@pytest.fixture
def decided(served):
    served.decide(age="quasi", sex="quasi", dx="sensitive")
    return served


def test_downloads_are_those_of_the_policy_as_it_is(decided):
    """There and back again: no file of another policy is handed out."""
    files = {}
    for k in (4, 30):
        asked(decided, k)
        decided.page("/release")
        files[k] = decided.ask("GET", "/release/files/release.csv").text
    assert files[4] != files[30]
    tried = re.findall(r'"tried": "(\w+)"', decided.page("/compare").text)
    decided.ask("POST", "/compare/tried", body={"tried": tried[0]})
    assert decided.project.now.policy.k == 4
    decided.searched()
    decided.page("/release")
    assert decided.ask("GET", "/release/files/release.csv").text == files[4]
    assert "k = 4" in decided.ask("GET", "/release/files/policy.toml").text


def test_an_error_that_names_a_column_is_text_and_no_markup(empty):
    """Errors are shown within pages: a name in them must not become a form of its own."""
    evil = '<b hx-post="/protect/policy" hx-trigger="load">x</b>'
    name = evil.replace('"', '""')
    empty.upload("evil.csv", (f'"{name}",age\n' + "1,2\n3,4\n" * 9).encode())
    empty.decide(**{evil: "quasi", "age": "quasi", f"{evil}_nobody": True})
    empty.page("/protect/ladders")
    answer = empty.ask("POST", "/protect/ladders", body={f"low:{evil}": "2", f"high:{evil}": "9"})
    assert answer.status == 422
    assert "hx-post" in answer.text
    assert "<b" not in answer.text
    assert answer.headers["hx-retarget"] == "#message"


def test_a_folder_that_is_used_for_something_else_is_left_alone(tmp_path):
    (tmp_path / "policy.toml").write_text("mine", encoding="utf-8")
    with pytest.raises(WriteError, match="is not an empty folder"):
        Project.open(tmp_path)
    assert (tmp_path / "policy.toml").read_text(encoding="utf-8") == "mine"


def test_work_that_failed_or_was_stopped_says_so_until_somebody_begins_it_again():
    jobs, begun = Jobs(), []

    def work(hook):
        begun.append(1)
        raise PolicyError("refused", "No.")

    first = jobs.start("read", 1, work)
    first.wait(5)
    assert jobs.start("read", 1, work) is first
    assert jobs.start("read", 1, work, anew=True) is not first
    assert len(begun) == 2


def test_one_of_a_kind_is_under_way():
    jobs = Jobs()

    def work(hook):
        while True:
            time.sleep(0.01)
            hook(shoal.progress.Progress("working", 0))

    first = jobs.start("search", 1, work)
    second = jobs.start("search", 2, work)
    assert first.wait(5)
    assert first.state is State.CANCELLED
    jobs.close(5)
    assert second.state is State.CANCELLED


def test_a_panic_ends_a_job():
    jobs = Jobs()

    def work(hook):
        raise SystemExit

    job = jobs.start("search", 1, work)
    assert job.wait(5)
    assert job.state is State.FAILED


def test_a_broken_file_is_told(empty):
    empty.upload("broken.csv", b'a,b\n1,"2\n')
    for _ in range(2):
        assert 'class="bad"' in empty.page("/load").text
    number = re.search(r"/job/(\d+)/again", empty.page("/load").text)[1]
    empty.ask("POST", f"/job/{number}/again", body={})
    assert f"/job/{number}/again" not in empty.page("/load").text


def test_uploads_of_the_same_name_do_not_meet(decided, tmp_path):
    decided.upload("data.csv", DATA.encode())
    decided.decide(age="quasi", sex="quasi", dx="sensitive")
    asked(decided, 4)
    before = decided.project.now.source
    other = DATA.splitlines(keepends=True)[:40]
    decided.upload("data.csv", "".join(other).encode(), path="/attack", field="outsiders", attack="linkage")
    assert "Results of the attacks" in decided.page("/attack").text
    assert decided.project.now.source == before
    assert before.read_text(encoding="utf-8") == DATA


def test_other_releases_are_joined_and_named_in_the_script(decided):
    """The script that repeats the steps passes the uploaded releases as a list."""
    decided.upload("data.csv", DATA.encode())
    decided.decide(age="quasi", sex="quasi", dx="sensitive")
    asked(decided, 4)
    decided.upload("other.csv", DATA.encode(), path="/attack", field="also", attack="composition")
    assert "composition" in decided.page("/attack").text
    assert decided.project.now.result("attack").given == {"also": ["other.csv"]}


def test_the_original_is_attacked_as_well_if_asked(decided):
    decided.upload("data.csv", DATA.encode())
    decided.decide(age="quasi", sex="quasi", dx="sensitive")
    asked(decided, 4)
    decided.ask("POST", "/attack", body={"attack": "linkage", "ceilings": "yes"})
    assert "The same attacks on the original" in decided.page("/attack").text
    assert decided.project.now.result("attack").given == {"ceilings": True}


LADDER = "".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9}\n" for age in range(20, 60))


@pytest.mark.exhaustive
def test_a_hierarchy_that_is_sent_is_checked_kept_and_handed_out(decided, tmp_path):
    form = {"column": "age", "kind": "explicit", "path": "/protect/hierarchy", "field": "sent"}
    lying = LADDER.replace("20-29", "50-99")
    answer = decided.upload("ages.csv", lying.encode(), **{**form, "path": "/protect/hierarchy/try"})
    assert 'class="bad"' in answer.text  # nobody has switched the check off
    decided.upload("ages.csv", LADDER.encode(), **form)
    assert "40 → 4 → *" in decided.page("/protect/ladders").text
    other = LADDER.replace("30-39", "20-29").replace("20-29", "20-39")
    decided.upload("ages.csv", other.encode(), **{**form, "path": "/protect/hierarchy/try"})
    assert "40 → 4 → *" in decided.page("/protect/ladders").text  # what was tried has changed nothing
    asked(decided, 4)
    page = decided.page("/release").text
    folder = tmp_path / "again"
    folder.mkdir()
    for name in re.findall(r"/release/files/([^\"]+)", page):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(decided.ask("GET", f"/release/files/{name}").text, encoding="utf-8")
    assert "hierarchy-1.csv" in page
    first = (folder / "release.csv").read_bytes()
    (folder / "data.csv").write_text(DATA, encoding="utf-8")
    subprocess.run([sys.executable, "release.py"], cwd=folder, check=True, timeout=120)
    assert (folder / "release.csv").read_bytes() == first


def test_a_file_that_a_policy_names_is_part_of_the_question(decided, tmp_path):
    path = tmp_path / "project" / "ages.csv"
    path.write_text(LADDER, encoding="utf-8")
    decided.ask("POST", "/protect/hierarchy", body={"column": "age", "kind": "explicit", "file": "ages.csv"})
    before = decided.project.now.key(Basis.POLICY)
    path.write_text(LADDER.replace("20-29", "20-30"), encoding="utf-8")
    assert decided.project.now.key(Basis.POLICY) != before


def test_files_elsewhere_are_neither_tried_nor_named(decided, tmp_path):
    outside = tmp_path / "outside.csv"
    outside.write_text(LADDER, encoding="utf-8")
    form = {"column": "age", "kind": "explicit", "file": str(outside)}
    assert "outside its folder" in decided.ask("POST", "/protect/hierarchy/try", body=form).text
    assert decided.ask("POST", "/protect/hierarchy", body=form).status == 422


def test_files_that_the_first_policy_names_may_be_elsewhere(tmp_path):
    (tmp_path / "shared").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "shared/ages.csv").write_text(LADDER, encoding="utf-8")
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    policy = tmp_path / "mine/policy.toml"
    policy.write_text(
        'version = 1\n[columns]\nsex = "quasi"\ndx = "sensitive"\n'
        'age = { role = "quasi", hierarchy = { kind = "explicit", file = "../shared/ages.csv" } }\n',
        encoding="utf-8",
    )
    project = Project.open(tmp_path / "project", tmp_path / "data.csv", policy)
    project.edit(lambda _: {"require": [{"model": "k-anonymity", "k": 3}]})
    assert project.now.policy.k == 3
    again = Project.open(tmp_path / "project")
    assert again.now.policy.beside("").resolve() == (tmp_path / "mine").resolve()


def test_a_requirement_is_taken_away_once(decided):
    for k in (3, 4, 5):
        decided.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": str(k)})
    digest = re.findall(r'"asked": "(\w+)"', decided.page("/protect").text)[0]
    for _ in range(2):  # twice, or from another tab
        decided.ask("POST", "/protect/require/drop", body={"asked": digest})
    assert [one["k"] for one in decided.project.now.policy.document()["require"]] == [4, 5]


def test_many_change_the_policy_at_once(decided):
    def add(k):
        decided.project.edit(lambda held: {"require": [*held.get("require", []), {"model": "k-anonymity", "k": k}]})

    threads = [threading.Thread(target=add, args=(k,)) for k in range(2, 12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(decided.project.now.policy.require) == 10


KEPT = """
version = 1
data = { missing = "never", read = { markers = ["a,b"], separator = ";" } }
[columns]
age = { role = "quasi", hierarchy = { kind = "interval", cuts = [[20, 30, 40], [20, 40]] } }
sex = { role = "quasi", hierarchy = { kind = "explicit", values = { f = ["person"], m = ["person"] } } }
dx = { role = "insensitive", names_nobody = true }
[[require]]
model = "k-anonymity"
k = 4
[search]
weights = { age = 0.12345678 }
levels = { sex = [0, 1] }
[population]
size = 5000
"""


def test_forms_lose_nothing_that_they_do_not_show(served):
    served.project.decide(Policy.parse(KEPT).within(served.project.folder))
    before = served.project.now.policy.document()
    roles = {name: str(said.role) for name, said in served.project.now.policy.columns.items()}
    served.decide(**roles, dx_nobody=True)
    assert served.project.now.policy.document() == before
    for path in ("/protect", "/load"):
        text = served.page(path).text + served.page("/protect/ladders").text
        target = {"/protect": "/protect/search", "/load": "/load/options"}[path]
        served.ask("POST", target, body=_form(text))
        assert served.project.now.policy.document() == before, path
    for name in ("age", "sex"):
        text = served.ask("GET", f"/protect/hierarchy?column={name}").text
        assert 'class="bad"' not in text
        served.ask("POST", "/protect/hierarchy", body=_form(text))
        assert served.project.now.policy.document() == before, name


def _form(text):
    """Return what a browser would send, if nothing were touched."""
    found = {}
    for tag in re.findall(r"<input[^>]*>", text):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name and not ('type="checkbox"' in tag and " checked" not in tag) and 'type="file"' not in tag:
            found[name[1]] = value[1] if value else "on"
    for select in re.findall(r"<select.*?</select>", text, re.DOTALL):
        chosen = re.search(r'<option(?: value="([^"]*)")? selected>([^<]*)', select)
        if chosen:
            found[re.search(r'name="([^"]*)"', select)[1]] = chosen[2] if chosen[1] is None else chosen[1]
    return found


def test_what_names_persons_is_released_only_if_somebody_says_it_does_not(empty):
    names = ["Anna Bauer", "Ben Kraus", "Cem Aydin", "Dora Hahn"] * 10
    rows = "".join(f"{name},{20 + place % 4}\n" for place, name in enumerate(names))
    empty.upload("names.csv", f"name,age\n{rows}".encode())
    refused = empty.decide(name="insensitive", age="quasi")
    assert "may identify individuals" in refused.text
    assert empty.decide(name="insensitive", age="quasi", name_nobody=True).status == 200
    assert empty.project.now.policy.columns["name"].names_nobody
    assert "nothing to protect" in empty.decide(name="direct", age="insensitive").text


def test_what_no_number_shows_is_to_be_confirmed(decided):
    decided.ask("POST", "/protect/require", body={"preset": "hipaa-safe-harbor"})
    assert "To be confirmed manually" in asked(decided, 4)
    for path in ("/compare", "/release"):
        assert "To be confirmed manually" in decided.page(path).text


def test_the_frontier_offers_the_smallest_limit_where_points_meet(decided):
    decided.ask("POST", "/protect/begin/frontier", body={})
    decided.page("/protect/results")
    text = decided.ask("GET", "/protect/explored").text
    spots = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)".*?"limit": "([\d.]+)"', text)
    last = {(x, y): float(limit) for x, y, limit in spots}
    assert all(limit == min(float(one[2]) for one in spots if one[:2] == place) for place, limit in last.items())
    assert any(sum(one[:2] == place for one in spots) > 1 for place in last)


def test_what_was_tried_is_of_these_data(decided):
    asked(decided, 4)
    assert "Earlier releases" in decided.page("/compare").text
    decided.upload("other.csv", (DATA + "30;f;a\n").encode())
    assert "Earlier releases" not in decided.page("/compare").text


def test_a_packed_file_is_read_but_no_bomb(empty):
    empty.upload("data.csv.gz", gzip.compress(DATA.encode()))
    assert "120 records" in empty.page("/load").text
    bomb = empty.upload("bomb.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 10_000_000))
    assert bomb.status == 422
    assert "expands beyond the limit" in bomb.text


ROUTES = ["/assess/threshold?k=", "/assess/threshold?persons=", "/assess/person?part=", "/assess/person?place="]
ROUTES += ["/protect/scheme?place=", "/job/", "/protect/fields?model=", "/protect/hierarchy?column=", "/picture/"]
FORMS = ["/identify", "/load", "/load/options", "/protect/require", "/protect/require/drop", "/protect/policy"]
FORMS += ["/protect/hierarchy", "/protect/hierarchy/try", "/protect/hierarchy/kind", "/protect/choose"]
FORMS += ["/protect/ladders", "/protect/levels", "/protect/levels/free", "/protect/begin/x", "/protect/search"]
FORMS += ["/protect/population", "/compare/learning", "/compare/tried", "/attack", "/job/x/cancel", "/job/x/again"]
FIELDS = [
    "k",
    "limit",
    "place",
    "text",
    "file",
    "column",
    "kind",
    "model",
    "low:age",
    "high:age",
    "weight:age",
    "role:0",
]


ODD = ["", "9" * 5000, "nan", "inf", "1e400", "-1", "\0", "x" * 3000, "<b>", "../.."]


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value[:8]))
def test_odd_requests_are_answered(decided, value):
    decided.page("/protect/ladders")
    quoted = "".join(f"%{byte:02x}" for byte in value.encode())
    for route in ROUTES:
        assert decided.ask("GET", f"{route}{quoted}").status < 500, route
    for route in FORMS:
        answer = decided.ask("POST", route, body=dict.fromkeys(FIELDS, value))
        assert answer.status < 500, route
        assert "<b>" not in answer.text
    assert decided.upload("a" * 300 + ".csv", b"a,b\n1,2\n").status == 200
    assert decided.upload("..csv", b"a,b\n1,2\n").status == 200
    assert decided.project.now.source.suffix == ".csv"


@pytest.mark.parametrize("end", tiered([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], quick=1))
def test_whoever_ends_it_nothing_is_left(tmp_path, end):
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    command = [sys.executable, "-m", "shoal", "serve", str(tmp_path / "data.csv"), "--no-browser"]
    where = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=where) as process:
        next(line for line in process.stderr if "http://" in line)
        assert list(tmp_path.glob("shoal-*"))
        process.send_signal(end)
        process.wait(30)
    assert not list(tmp_path.glob("shoal-*"))


@pytest.mark.parametrize("end", tiered([signal.SIGINT, signal.SIGTERM], quick=1))
def test_whoever_is_in_a_hurry_leaves_nothing_either(tmp_path, end):
    """A second signal comes while the first one is dealt with; work is under way, and many files are to be removed."""
    (tmp_path / "data.csv").write_text(DATA, encoding="utf-8")
    script = textwrap.dedent(f"""
        import shutil, signal, time
        from shoal.web import project
        rmtree = shutil.rmtree
        def slowly(path, **how):
            time.sleep(1)
            rmtree(path, **how)
        project.shutil.rmtree = slowly
        from shoal.cli import main
        import sys
        sys.argv = ["shoal", "serve", {str(tmp_path / "data.csv")!r}, "--no-browser"]
        main()
    """)
    where = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, env=where) as process:
        next(line for line in process.stderr if "http://" in line)
        for _ in range(12):
            process.send_signal(end)
            time.sleep(0.1)
        process.wait(30)
    assert not list(tmp_path.glob("shoal-*"))


def test_what_cannot_be_opened_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(shoal.ShoalError):
        Project.open(None, tmp_path / "no.csv")
    with pytest.raises(shoal.ShoalError):
        Project.open(None, None, tmp_path / "no.toml")
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_can_read_a_project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    Project.open(folder)
    assert Path(folder).stat().st_mode & 0o777 == 0o700


def test_two_servers_in_one_browser(served, tmp_path):
    other = Server(Project.open(tmp_path / "other"))
    both = f'shoal-{served.port}={served.keys.session}; shoal-{other.port}={other.keys.session}; prefs={{"a":1}}'
    try:
        for one in (served, other):
            assert one.ask("GET", "/load", headers={"cookie": both}).status == 200
    finally:
        other.close()
