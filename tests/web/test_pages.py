"""The way from the raw table to the release, page by page."""

import json
import re
import time

from shoal.policy.policy import Policy
from shoal.web.jobs import State
from shoal.web.project import Basis, Project
from shoal.words import short


def decided(server):
    answer = server.decide(age="quasi", sex="quasi", dx="sensitive")
    assert answer.headers["hx-redirect"] == "/assess"


def test_all_seven_steps(served):
    assert "120 records × 3 columns" in served.page("/load").text
    identify = served.page("/identify").text
    assert 'name="role:0"' in identify
    decided(served)
    assert "Every record shares the quasi-identifiers with at least" in served.page("/assess").text
    assert "There is no release" in served.page("/compare").text
    assert 'name="k"' in served.ask("GET", "/protect/fields?model=k-anonymity").text
    served.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "4"})
    assert served.project.now.policy.document()["require"] == [{"model": "k-anonymity", "k": 4}]
    served.ask("POST", "/protect/begin/anonymize", body={})
    results = served.page("/protect/results").text
    assert "k ≥ 4" in results
    assert "<td>met</td>" in results
    assert "Next: attack" in served.page("/compare").text
    served.ask("POST", "/attack", body={"attack": ["linkage", "homogeneity"]})
    assert "homogeneity of dx" in served.page("/attack").text
    final = served.page("/release").text
    for name in ("release.csv", "release.csv.owner-only/mapping.json", "policy.toml", "release.py", "report.html"):
        assert f"/release/files/{name}" in final
        answer = served.ask("GET", f"/release/files/{name}")
        assert answer.status == 200
        assert "attachment" in answer.headers["content-disposition"]
    assert (
        Policy.parse(served.ask("GET", "/release/files/policy.toml").text).document()
        == served.project.now.policy.document()
    )
    compile(served.ask("GET", "/release/files/release.py").text, "release.py", "exec")


def test_a_point_of_the_frontier_becomes_the_policy(served):
    decided(served)
    served.ask("POST", "/protect/begin/frontier", body={})
    assert "/protect/explored" in served.page("/protect/results").text
    assert "Choose k = 5" in served.ask("GET", "/protect/explored").text
    served.ask("POST", "/protect/choose", body={"k": "5", "limit": "0.02"})
    held = served.project.now.policy.document()
    assert held["require"] == [{"model": "k-anonymity", "k": 5}]
    assert held["search"]["suppression"] == 0.02


def test_techniques_are_compared_beside_the_search(served):
    decided(served)
    served.ask("POST", "/protect/begin/techniques", body={})
    served.project.now.job("techniques").wait(120)
    assert "/protect/explored" in served.page("/protect/results").text
    text = served.ask("GET", "/protect/explored").text
    assert "Techniques at comparable risk" in text
    assert "microaggregation" in text


def test_a_perturbation_is_set_changed_and_removed(served):
    decided(served)
    listed = served.ask("GET", "/protect/perturbations").text
    assert all(name in listed for name in ("age", "sex", "dx"))
    assert "Share kept" in served.ask("POST", "/protect/perturbation/kind", body={"column": "dx", "kind": "pram"}).text
    served.ask("POST", "/protect/perturbation", body={"column": "dx", "kind": "pram", "keep": "0.8"})
    assert served.project.now.policy.document()["columns"]["dx"]["perturb"] == {"kind": "pram", "keep": 0.8}
    assert 'value="0.8"' in served.ask("GET", "/protect/perturbation?column=dx").text
    assert "Values were replaced at random" in served.ask("GET", "/protect/perturbations").text
    wrong = served.ask("POST", "/protect/perturbation", body={"column": "age", "kind": "round", "to": "-5"}).text
    assert "Base" in wrong
    served.ask("POST", "/protect/perturbation", body={"column": "age", "kind": "code", "persons": "5", "side": "top"})
    assert served.project.now.policy.document()["columns"]["age"]["perturb"] == {
        "kind": "code", "persons": 5, "side": "top",
    }  # fmt: skip
    served.ask("POST", "/protect/perturbation", body={"column": "dx", "kind": "none"})
    assert "perturb" not in served.project.now.policy.document()["columns"]["dx"]


def test_a_hierarchy_is_tried_and_kept(served):
    decided(served)
    assert "/picture/" in served.ask("GET", "/protect/hierarchy?column=age").text
    form = {"column": "age", "kind": "interval"}
    tried = served.ask("POST", "/protect/hierarchy/try", body={**form, "widths": "10,20"}).text
    assert "/picture/" in tried
    wrong = served.ask("POST", "/protect/hierarchy/try", body={**form, "widths": "10,15"}).text
    assert 'class="bad"' in wrong
    served.ask("POST", "/protect/hierarchy", body={**form, "widths": "10, 20"})
    assert served.project.now.policy.document()["columns"]["age"]["hierarchy"]["widths"] == [10, 20]
    assert "40 → 4 → 2 → *" in served.page("/protect/ladders").text


def test_mistakes_say_what_to_do_and_change_nothing(served):
    decided(served)
    before = served.project.now.policy.document()
    for path, body, says in (
        ("/protect/require", {"model": "k-anonymity", "k": "0"}, "k"),
        ("/protect/require", {"model": "no-such"}, "no-such"),
        ("/protect/require", {}, "No attack or model is selected"),
        ("/protect/search", {"settings": "1", "suppression": "7"}, "Suppression limit"),
    ):
        answer = served.ask("POST", path, body=body)
        assert answer.status == 422
        assert says in answer.text
    assert served.project.now.policy.document() == before


def test_what_was_decided_outlives_the_server(served, tmp_path):
    decided(served)
    again = Project.open(tmp_path / "project")
    assert again.now.policy.document() == served.project.now.policy.document()
    assert again.now.source == served.project.now.source
    assert json.loads((tmp_path / "project/project.json").read_text(encoding="utf-8"))["source"].endswith("data.csv")


def test_ten_searches_that_are_stopped_leave_nothing_running(served):
    decided(served)
    served.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "3"})
    for _ in range(10):
        served.ask("POST", "/protect/begin/anonymize", body={})
        job = served.project.now.job("anonymize")
        answer = served.ask("POST", f"/job/{job.number}/cancel", body={})
        assert answer.headers["hx-refresh"] == "true"
    until = time.monotonic() + 20
    while served.project.jobs.running() and time.monotonic() < until:
        time.sleep(0.05)
    assert not served.project.jobs.running()


def test_the_same_work_is_not_done_twice(served):
    decided(served)
    served.page("/assess")
    first = served.project.now.job("assess", Basis.REQUIRED)
    served.page("/assess")
    assert served.project.now.job("assess", Basis.REQUIRED) is first
    assert first.state is State.DONE
    served.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "3"})
    assert served.project.now.job("assess", Basis.REQUIRED) is None  # something else is required, another question


def test_thresholds_are_linked(served):
    decided(served)
    served.page("/assess")
    found = served.project.now.result("assess", Basis.REQUIRED)
    for k in (2, 5, 40):
        text = served.ask("GET", f"/assess/threshold?k={k}").text
        small = sum(persons for size, persons in found.sizes.items() if size < k)
        assert f"<b>{small}</b> of 120" in text
    for none in ("limit=0", "persons=0"):
        assert f"k = {min(max(found.k, 2), 50)}," in served.ask("GET", f"/assess/threshold?{none}").text


def test_one_person_without_values(served):
    decided(served)
    served.page("/assess")
    served.ask("POST", "/assess/peers", body={})
    assert "/picture/" in served.page("/assess").text
    text = served.ask("GET", "/assess/person?place=1").text
    assert "dx" in text
    assert "Rank 3 of 120" in served.ask("GET", "/assess/person?part=1").text
    for wrong in ("place=0", "place=121", "place=x", ""):
        assert served.ask("GET", f"/assess/person?{wrong}").status == 422


def test_the_lattice_is_explored_step_by_step(served):
    decided(served)
    served.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "4"})
    served.ask("POST", "/protect/begin/schemes", body={})
    served.page("/protect/results")
    found = served.project.now.result("schemes")
    place = found.place({"age": 0, "sex": 0})
    text = served.ask("GET", f"/protect/scheme?place={place}").text
    assert (
        f"information loss {short(found.prices[place])} (0–1; measure: loss), {found.suppressed[place]} of 120" in text
    )
    assert text.count("<tr><td>") == 2
    served.ask("POST", "/protect/levels", body={"place": str(found.place({"age": 1, "sex": 0}))})
    assert served.project.now.policy.search.levels == {"age": (1, 1), "sex": (0, 0)}
    served.ask("POST", "/protect/levels/free", body={})
    assert not served.project.now.policy.search.levels


def test_rows_are_shown_only_when_asked_for(served):
    assert "<td>a</td>" not in served.page("/load").text
    rows = served.ask("GET", "/load/rows").text
    assert rows.count("<tr>") == 11
    assert "<td>20</td>" in rows


def test_a_policy_by_hand(served):
    decided(served)
    text = 'version = 1\n[columns]\nage = "quasi"\nsex = "quasi"\n[[require]]\nmodel = "k-anonymity"\nk = 7\n'
    digest = re.search(r'name="digest" value="(\w+)"', served.page("/protect").text)[1]
    served.ask("POST", "/protect/policy", body={"text": text, "digest": digest})
    assert served.project.now.policy.k == 7
    stale = served.ask("POST", "/protect/policy", body={"text": "version = 1", "digest": digest})
    assert "changed in another tab" in stale.text
    digest = re.search(r'name="digest" value="(\w+)"', served.page("/protect").text)[1]
    wrong = served.ask("POST", "/protect/policy", body={"text": "version = 2", "digest": digest})
    assert wrong.status == 422
    assert served.project.now.policy.k == 7


def test_a_file_is_read_in_another_way(empty):
    empty.upload("latin.csv", "name;größe\nJörg;1,5\nAnn;2,5\n".encode("latin-1"))
    assert "2 records × 2 columns" in empty.page("/load").text
    empty.ask("POST", "/load/options", body={"separator": ","})
    assert empty.project.now.policy.document()["data"]["read"] == {"separator": ","}
    assert "1 column" in empty.page("/load").text or 'class="bad"' in empty.page("/load").text
