"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from shoal.kernels import library

settings.register_profile("here", deadline=None, max_examples=60)
settings.register_profile("ci", deadline=None, max_examples=150, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture
def shared() -> Path:
    """The folder with real datasets and reference values, where it exists."""
    if not SHARED.is_dir():
        pytest.skip("the reference data are not beside this checkout")
    return SHARED


@pytest.fixture(params=["c", "numpy"])
def kernels(request: pytest.FixtureRequest):
    """Run a test with the C core and with the numpy twins."""
    with library.using(request.param):
        yield request.param


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI nothing may be skipped: what is not run is not known."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {item.nodeid}"
