"""The two tiers of the tests.

``pytest`` runs the quick tier: what a change is likely to break, without servers, browser, Java or reference data.
``pytest --all`` adds the exhaustive tier. A test belongs to it if it is marked ``exhaustive``, or if it needs one of
the resources below: it carries the mark of the resource, or asks for the fixture of that name.
"""

import gc
import os
import re
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
        "parameters, and more hypothesis examples",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and load the profile of the tier unless another is asked for."""
    config.addinivalue_line("markers", "exhaustive: runs with --all only")
    config.addinivalue_line("markers", "nightly: runs with --all --hypothesis-profile=nightly only")
    for name, says in RESOURCES.items():
        config.addinivalue_line("markers", f"{name}: {says}; runs with --all only")
    _check_asked(config)
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile(effort.EXHAUSTIVE if config.getoption("--all") else effort.QUICK)


def _check_asked(config: pytest.Config) -> None:
    """Refuse paths and marks that are not there: with several workers nobody would say so."""
    for given in config.args:
        path = config.invocation_params.dir / given.partition("::")[0]
        if not path.exists():
            raise pytest.UsageError(f"there is no file or folder '{given}'")
    known = {line.partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")} | {"hypothesis"}
    for name in re.findall(r"[A-Za-z_]\w*", config.getoption("markexpr")):
        if name not in known | {"and", "or", "not", "True", "False"}:
            raise pytest.UsageError(f"there is no mark '{name}' (see pytest --markers)")


def pytest_report_header(config: pytest.Config) -> str:
    """Name the tier, and say if the tests will take long."""
    slow = " The C core is not compiled: numpy does its work, several times slower." if _without_core() else ""
    if config.getoption("--all"):
        return f"tier: all tests.{slow}"
    return f"tier: quick; add --all for the exhaustive tests (see CONTRIBUTING.md).{slow}"


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the exhaustive tests in the quick tier, and the nightly ones in both."""
    for item in items:
        _mark(item)
    tiers = [] if config.getoption("--all") else ["exhaustive"]
    tiers += [] if config.getoption("--hypothesis-profile") == effort.NIGHTLY else ["nightly"]
    for tier in tiers:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker(tier)])
        items[:] = [item for item in items if not item.get_closest_marker(tier)]


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
    if item.get_closest_marker("nightly"):
        item.add_marker("exhaustive")
        item.add_marker("hypothesis")  # by which the nightly run is chosen
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


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Skip tests that ask for the C core themselves where there is none."""
    from shoal.kernels.library import NotInstalledError

    try:
        return (yield)
    except NotInstalledError:
        pytest.skip("the C core is not compiled: pip install -e .")


@cache
def _without_core() -> bool:
    from shoal.kernels import library  # after the number of threads is set

    with library.using("auto"):
        return library.core() is None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say why nothing may have run: the workers do not tell."""
    if not terminalreporter.stats:
        tier = "" if config.getoption("--all") else " Tests of the exhaustive tier run with --all only."
        terminalreporter.write_line(f"No test fits what was asked for.{tier}")


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
        report.longrepr = f"skipped, which CI does not allow. {reason}"
    return report
