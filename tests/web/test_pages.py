"""The way from the raw table to the release, page by page."""

import json
import time

from shoal.policy.policy import Policy
from shoal.web.jobs import State
from shoal.web.project import Project

ROLES = {"role:age": "quasi", "role:sex": "quasi", "role:dx": "sensitive"}


def decided(server):
    server.page("/identify")
    answer = server.ask("POST", "/identify", body=ROLES)
    assert answer.headers["hx-redirect"] == "/assess"


def test_all_seven_steps(served):
    assert "120 records × 3 columns" in served.page("/load").text
    identify = served.page("/identify").text
    assert 'name="role:age"' in identify
    decided(served)
    assert "Every record shares these values with at least" in served.page("/assess").text
    assert "There is no release" in served.page("/compare").text
    assert 'name="k"' in served.ask("GET", "/protect/fields?model=k-anonymity").text
    served.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "4"})
    assert served.project.policy.document()["require"] == [{"model": "k-anonymity", "k": 4}]
    served.ask("POST", "/protect/begin/anonymize", body={})
    assert "k ≥ 4: met" in served.page("/protect").text
    assert "Next: attack it" in served.page("/compare").text
    served.ask("POST", "/attack", body={"attack": ["linkage", "homogeneity"]})
    assert "homogeneity of dx" in served.page("/attack").text
    final = served.page("/release").text
    for name in ("release.csv", "policy.toml", "release.py", "report.html", "report-external.html"):
        assert f"/release/files/{name}" in final
        answer = served.ask("GET", f"/release/files/{name}")
        assert answer.status == 200
        assert "attachment" in answer.headers["content-disposition"]
    assert (
        Policy.parse(served.ask("GET", "/release/files/policy.toml").text).document()
        == served.project.policy.document()
    )
    compile(served.ask("GET", "/release/files/release.py").text, "release.py", "exec")


def test_a_point_of_the_frontier_becomes_the_policy(served):
    decided(served)
    served.ask("POST", "/protect/begin/frontier", body={})
    assert "Choose k = 5" in served.page("/protect").text
    served.ask("POST", "/protect/choose", body={"k": "5", "limit": "0.02"})
    held = served.project.policy.document()
    assert held["require"] == [{"model": "k-anonymity", "k": 5}]
    assert held["search"]["suppression"] == 0.02


def test_a_hierarchy_is_tried_and_kept(served):
    decided(served)
    tried = served.ask("GET", "/protect/hierarchy?column=age&kind=interval&preview=1&widths=10,20").text
    assert "/picture/" in tried
    wrong = served.ask("GET", "/protect/hierarchy?column=age&kind=interval&preview=1&widths=10,15").text
    assert 'class="bad"' in wrong
    served.ask("POST", "/protect/hierarchy", body={"column": "age", "kind": "interval", "widths": "10, 20"})
    assert served.project.policy.document()["columns"]["age"]["hierarchy"]["widths"] == [10, 20]


def test_mistakes_say_what_to_do_and_change_nothing(served):
    decided(served)
    before = served.project.policy.document()
    for path, body, says in (
        ("/protect/require", {"model": "k-anonymity", "k": "0"}, "k"),
        ("/protect/require", {"model": "no-such"}, "no-such"),
        ("/protect/require", {}, "Nothing was chosen"),
        ("/protect/search", {"suppression": "7"}, "suppression"),
        ("/identify", {**ROLES, "role:age": "subject", "role:sex": "subject"}, "Two columns"),
    ):
        answer = served.ask("POST", path, body=body)
        assert answer.status == 422
        assert says in answer.text
    assert served.project.policy.document() == before


def test_what_was_decided_outlives_the_server(served, tmp_path):
    decided(served)
    again = Project.open(tmp_path / "project")
    assert again.policy.document() == served.project.policy.document()
    assert again.source.path == served.project.source.path
    assert json.loads((tmp_path / "project/project.json").read_text(encoding="utf-8"))["source"].endswith("data.csv")


def test_ten_searches_that_are_stopped_leave_nothing_running(served):
    decided(served)
    served.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "3"})
    for _ in range(10):
        served.ask("POST", "/protect/begin/anonymize", body={})
        job = served.project.found("anonymize")
        answer = served.ask("POST", f"/job/{job.number}/cancel", body={})
        assert answer.headers["hx-refresh"] == "true"
    until = time.monotonic() + 20
    while served.project.jobs.running() and time.monotonic() < until:
        time.sleep(0.05)
    assert not served.project.jobs.running()


def test_the_same_work_is_not_done_twice(served):
    decided(served)
    served.page("/assess")
    first = served.project.found("assess")
    served.page("/assess")
    assert served.project.found("assess") is first
    assert first.state is State.DONE
    served.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "3"})
    assert served.project.found("assess") is None  # another policy, another question
