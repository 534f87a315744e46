"""Who gets in, and what is refused."""

import io
import zipfile

import pytest

import shoal
from shoal.web.guard import HEADER


def test_the_link_is_good_for_one_use(served):
    token = served.keys.token
    wrong = served.ask("GET", "/enter?token=x", headers={"cookie": None})
    assert wrong.status == 403
    first = served.ask("GET", f"/enter?token={token}", headers={"cookie": None})
    assert first.status == 200
    assert 'content="0;url=/"' in first.text  # from a page of ours, or a strict cookie would not go along
    cookie = first.headers["set-cookie"]
    assert cookie.startswith(f"shoal-{served.port}={served.keys.session};")  # of this server, and no other
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert served.ask("GET", f"/enter?token={token}", headers={"cookie": None}).status == 403


@pytest.mark.parametrize("cookie", [None, "shoal=wrong", "shoal=", "other=1", '"broken'])
def test_without_the_cookie_nobody_gets_in(served, cookie):
    for path in ("/load", "/static/workbench.css", "/release/files/policy.toml"):
        answer = served.ask("GET", path, headers={"cookie": cookie})
        assert answer.status == 403
        assert "shoal serve" in answer.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", ""])
def test_another_host_is_refused(served, host):
    assert served.ask("GET", "/load", host=host).status == 400


def test_a_form_of_others_is_refused(served):
    for header in (None, "wrong"):
        answer = served.ask("POST", "/identify", body={"role:age": "quasi"}, headers={HEADER: header})
        assert answer.status == 403
    assert not served.project.now.policy.columns


def test_every_answer_carries_the_headers(served):
    for path in ("/load", "/nowhere", "/static/workbench.css", "/static/../app.py"):
        headers = served.ask("GET", path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_it_listens_on_this_machine_only(served):
    assert served._door.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/release/files/..%2f..%2fpolicy.toml"],
)
def test_no_path_leads_out(served, path):
    answer = served.ask("GET", path)
    assert answer.status in {404, 422}
    assert "import" not in answer.text
    assert "version = 1" not in answer.text


@pytest.mark.parametrize("name", ["../../evil.csv", "/etc/evil.csv", "..\\evil.csv", ".evil.csv"])
def test_an_upload_stays_in_the_project(served, tmp_path, name):
    answer = served.upload(name, b"a,b\n1,2\n")
    assert answer.headers.get("hx-redirect") == "/load"
    path = served.project.now.source
    assert path.parent.parent == tmp_path / "project" / "uploads"
    assert not path.name.startswith(".")
    assert not list(tmp_path.parent.glob("*evil*"))


def test_too_large_an_upload_is_refused(served):
    answer = served.upload("big.csv", b"x" * 1_100_000)
    assert answer.status == 413
    before = served.project.now.source
    chunks = iter(
        [b'--e\r\ncontent-disposition: form-data; name="file"; filename="b.csv"\r\n\r\n', *[b"y" * 65536] * 20]
    )
    try:
        answer = served.ask("POST", "/load", body=chunks, headers={"content-type": "multipart/form-data; boundary=e"})
        assert answer.status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it did not wait for the rest
    assert served.project.now.source == before
    assert not (served.project.folder / "uploads" / "b.csv").exists()


def test_a_workbook_that_unpacks_without_end_is_refused(served):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", b"0" * 300_000_000)
    answer = served.upload("bomb.xlsx", packed.getvalue())
    assert answer.status == 422
    assert "expands beyond the limit" in answer.text
    assert not (served.project.folder / "uploads" / "bomb.xlsx").exists()


def test_other_kinds_of_files_are_refused(served):
    for name in ("evil.exe", "evil.html", "noname", "a.csv.svg"):
        answer = served.upload(name, b"<script>alert(1)</script>")
        assert answer.status == 422
        assert "script" not in answer.text


def test_markup_in_names_and_values_is_escaped(empty):
    evil = "<script>alert(1)</script>"
    rows = "".join(f'"<img src=x onerror=alert({place % 3})>",{place % 7}\n' for place in range(60))
    empty.upload("evil.csv", f'"{evil}",age\n{rows}'.encode())
    for path in ("/load", "/identify"):
        text = empty.page(path).text
        assert evil not in text
        assert "<img src=x" not in text
        assert "&lt;script&gt;" in text
    done = empty.decide(**{evil: "quasi", f"{evil}_nobody": True, "age": "quasi"})
    assert done.headers["hx-redirect"] == "/assess"
    for path in ("/assess", "/protect"):
        assert evil not in empty.page(path).text


def test_nothing_is_left_of_a_temporary_project(empty):
    folder = empty.project.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    empty.upload("a.csv", b"a,b\n1,2\n")
    assert len(list(folder.glob("uploads/*/a.csv"))) == 1
    empty.project.close()
    assert not folder.exists()


def test_formulas_are_shown_as_text_and_told(empty):
    """What a spreadsheet would run is escaped on pages, written as text, and the owner is told."""
    formula = '=HYPERLINK("http://evil.example")'
    lines = ["age,remark", *(f'{20 + place % 3},"{formula.replace(chr(34), chr(34) * 2)}"' for place in range(12))]
    empty.upload("formulas.csv", "\n".join(lines).encode())
    empty.page("/load")
    assert "=HYPERLINK(&#34;http://evil.example&#34;)" in empty.ask("GET", "/load/rows").text
    empty.decide(age="quasi", remark="insensitive", remark_nobody=True)
    empty.project.edit(
        lambda policy: {"columns": {**policy["columns"], "remark": {"role": "insensitive", "names_nobody": True}}}
    )
    empty.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "2"})
    empty.ask("POST", "/protect/begin/anonymize", body={})
    assert "as formulas" in empty.page("/protect/results").text
    assert "remark" in empty.page("/release").text


def test_a_workbook_with_formulas_is_written_without(tmp_path):
    table = shoal.read({"remark": ["=1+1", "@SUM(1)"], "age": [1, 2]})
    shoal.write(table, tmp_path / "out.xlsx")
    with zipfile.ZipFile(tmp_path / "out.xlsx") as packed:
        sheet = packed.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    assert table["remark"].has_formulas
    assert not shoal.read({"a": ["-", "- none", "-1", "+49 30 1234"]})["a"].has_formulas
