"""Jobs: what a page sees of one does not change while it is shown."""

import threading

import pytest

from shoal.errors import ShoalError
from shoal.web import page
from shoal.web.jobs import Job, State


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_seen_of_a_job_stays_so(fails):
    """A page that found a job under way must say so to its end, even if the job is done by then."""

    def work(_hook):
        if fails:
            raise ShoalError("refused", "No.")
        return 7

    job = Job(1, "write", "key")
    seen = job.seen()
    job.run(work)
    assert (seen.state, seen.result, seen.error) == (State.RUNNING, None, None)
    after = job.seen()
    assert after.state is (State.FAILED if fails else State.DONE)
    assert (after.result, after.error is None) == ((None, False) if fails else (7, True))


def test_a_page_shows_a_job_that_ends_meanwhile(empty, monkeypatch):
    """It is under way when it is found, and done before the page is drawn: then the page must not be empty."""
    empty.upload("some.csv", b"age,sex\n" + b"".join(b"%d,f\n" % (20 + place % 3) for place in range(12)))
    empty.page("/load")
    empty.decide(age="quasi", sex="quasi")
    empty.ask("POST", "/protect/require", body={"model": "k-anonymity", "k": "2"})
    empty.ask("POST", "/protect/begin/anonymize", body={})
    empty.page("/protect/results")
    headline, patience, over = page.headline, page.PATIENCE, threading.Event()

    def slow(now):
        if not over.is_set():
            over.set()
            for job in now.project.jobs.running():
                job.wait(30)
        return headline(now)

    monkeypatch.setattr(page, "PATIENCE", 0.0)
    monkeypatch.setattr(page, "headline", slow)
    first = empty.ask("GET", "/release").text
    monkeypatch.setattr(page, "PATIENCE", patience)
    assert 'class="job"' in first or "Files to publish" in first
    assert "Files to publish" in empty.page("/release").text
