"""The two tiers of the tests.

``pytest`` runs the quick tier: what a change is likely to break, without servers, browser, Java or reference data.
``pytest --all`` adds the exhaustive tier. A test belongs to it if it is marked ``exhaustive``, or if it needs one of
the resources below: it carries the mark of the resource, or asks for the fixture of that name.
"""

import gc
import os
import shutil
from collections.abc import Generator
from functools import cache
from typing import TypeVar

import pytest
from hypothesis import settings
from tests import effort

for library in ("OMP", "OPENBLAS"):  # one thread for each worker; before numpy is loaded
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

RESOURCES = {
    "shared": "reads the reference datasets in ../shared",
    "spark": "starts Spark, which needs Java",
    "servers": "starts PostgreSQL or MariaDB",
    "browser": "drives Chromium",
}
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)
ONE_PER_RUN = ("spark", "servers", "browser")  # their tests share one worker, so that each is started once


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer ``--all``."""
    parser.addoption(
        "--all",
        action="store_true",
        help="run the exhaustive tier as well: reference data, Spark, database servers, Chromium, all combinations of "
        "parameters, and five times as many hypothesis examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and load the profile of the tier unless another is asked for."""
    config.addinivalue_line("markers", "exhaustive: runs with --all only")
    for name, says in RESOURCES.items():
        config.addinivalue_line("markers", f"{name}: {says}; runs with --all only")
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile(effort.EXHAUSTIVE if config.getoption("--all") else effort.QUICK)


def pytest_report_header(config: pytest.Config) -> str:
    """Name the tier."""
    if config.getoption("--all"):
        return "tier: all tests"
    return "tier: quick; add --all for the exhaustive tests (see CONTRIBUTING.md)"


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the exhaustive tests in the quick tier."""
    for item in items:
        _mark(item)
    if not config.getoption("--all"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("exhaustive")])
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


def pytest_collection_finish() -> None:
    """Exempt modules and tests from garbage collection, which took a fifth of the time of many tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_sessionfinish() -> None:
    """Unfreeze: libraries report leaks when Python ends with frozen objects."""
    gc.unfreeze()


def _mark(item: pytest.Item) -> None:
    """Give a test the marks of the resources that it needs."""
    asked_for = getattr(item, "fixturenames", ())
    for name in RESOURCES:
        if name in asked_for or item.get_closest_marker(name):
            item.add_marker(name)
            item.add_marker("exhaustive")
            if name in ONE_PER_RUN:
                item.add_marker(pytest.mark.xdist_group(name))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests whose resource is missing and has no fixture that would tell."""
    if item.get_closest_marker("spark") and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Java is not installed")
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if parameters.get("kernels") == "c" and _without_core():
        pytest.skip("the C core is not compiled: pip install -e .")


@cache
def _without_core() -> bool:
    from shoal.kernels import library  # after the number of threads is set

    with library.using("auto"):
        return library.core() is None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say why nothing ran, if all that was asked for belongs to the other tier: the workers do not tell."""
    if not config.getoption("--all") and not terminalreporter.stats:
        terminalreporter.write_line("Tests of the exhaustive tier run with --all only.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let no test be skipped in CI."""
    return _unskipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let no module be skipped in CI."""
    return _unskipped((yield))


def _unskipped(report: Report) -> Report:
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} is skipped, which CI does not allow. {reason}"
    return report
