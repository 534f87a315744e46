"""The workbench with several linked tables, from the folder to the files."""

import re

import pytest
from tests.dataset.test_dataset import hospital
from tests.web.conftest import Server

import shoal
from shoal.web.project import Project


@pytest.fixture
def served(tmp_path):
    (tmp_path / "in").mkdir()
    for name, columns in hospital().items():
        shoal.write(shoal.read(columns), tmp_path / "in" / f"{name}.csv")
    server = Server(Project.open(tmp_path / "project", tmp_path / "in"))
    yield server
    server.close()


def confirmed(server, purpose="controlled", **roles):
    """Confirm the proposed roles of all tables, except the given ones (``stays_ward="sensitive"``)."""
    assert "References between the tables" in server.page("/identify").text
    found = server.project.now.result("dataset-identify")
    form = {"purpose": purpose}
    for table, (name, identification) in enumerate(found.tables.items()):
        for column, (named, finding) in enumerate(identification.columns.items()):
            proposed = "" if finding.role.single else str(finding.role)
            form[f"role:{table}:{column}"] = roles.get(f"{name}_{named}", proposed)
    return server.ask("POST", "/identify", body=form)


def searched(server):
    server.ask("POST", "/protect/begin/anonymize", body={"settings": "1", "recoding": "local", "suppression": "0.2"})
    return server.page("/protect/results").text


def test_a_folder_of_tables_goes_through_all_steps(served):
    loaded = served.page("/load").text
    assert all(name in loaded for name in ("patients", "stays", "lab"))
    assert served.page("/protect").getheader("location") == "/identify"
    assert confirmed(served).getheader("hx-redirect") == "/assess"
    policy = served.project.now.policy
    assert policy.tables["lab"].refers == {"stay": "stays.stay"}
    assessed = served.page("/assess").text
    assert "Re-identification risk: stays" in assessed
    assert "Requirements" in served.page("/protect").text or "requirements" in served.page("/protect").text
    assert "released in 3 tables" in searched(served)
    assert "Comparison: lab" in served.page("/compare").text
    assert "Attacks to run on each table" in served.page("/attack").text
    assert served.ask("POST", "/attack", body={"attack": ["linkage"]}).getheader("hx-redirect") == "/attack"
    assert "Attacks: stays" in served.page("/attack").text
    page = served.page("/release").text
    files = re.findall(r'href="/release/files/([^"]+)"', page)
    assert {"release/stays.csv", "release/dataset.manifest.json", "report.html", "report-external.html"} <= set(files)
    for name in files:
        assert served.ask("GET", f"/release/files/{name}").status == 200
    assert "Table stays" in served.ask("GET", "/release/shown/report.html").text
    assert served.ask("GET", "/release/files/../project.json").status != 200
    assert served.ask("GET", "/release/files/project.json").status == 422


def test_roles_of_tables_are_those_that_were_chosen(served):
    confirmed(served, stays_ward="sensitive", patients_sex="")
    policy = served.project.now.policy
    assert str(policy.tables["stays"].columns["ward"].role) == "sensitive"
    assert "sex" not in policy.tables["patients"].columns
    assert policy.require
    confirmed(served, purpose="", stays_ward="quasi")
    assert served.project.now.policy.require == policy.require
    assert str(served.project.now.policy.tables["stays"].columns["ward"].role) == "quasi"


def test_steps_without_a_policy_or_a_release_say_what_is_missing(served):
    assert served.page("/assess").getheader("location") == "/identify"
    for step in ("compare", "attack", "release"):
        assert "There is no release for the current policy" in served.page(f"/{step}").text
    assert served.ask("POST", "/attack", body={"attack": ["linkage"]}).status == 422
    assert served.ask("POST", "/identify", body={"purpose": "public"}).status == 422


def test_a_changed_file_of_the_folder_is_read_again(served, tmp_path):
    assert "594" in served.page("/load").text
    path = tmp_path / "in" / "stays.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    assert "593" in served.page("/load").text
