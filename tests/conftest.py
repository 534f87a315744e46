"""The fixtures that all tests share."""

from pathlib import Path
from unittest.mock import patch

import pytest

from shoal.demo import Hospital, hospital
from shoal.engines import spark
from shoal.kernels import library

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real datasets and reference values, where it exists."""
    if not SHARED.is_dir():
        pytest.skip("the reference data are not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def demo_hospital() -> Hospital:
    """The demo hospital with enough patients to learn from; made once, as tables do not change."""
    return hospital(patients=1500)


@pytest.fixture(params=["c", "numpy"])
def kernels(request: pytest.FixtureRequest):
    """Run a test with the C core and with the numpy twins."""
    with library.using(request.param):
        yield request.param


_JAVA = "spark.driver.defaultJavaOptions"
_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
SMALL_SPARK = {  # for tables of a few hundred rows: few tasks, nothing compiled for a query that runs once
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    _JAVA: f"{spark._SESSION[_JAVA]} {_QUICK_START}",
}


@pytest.fixture(scope="session", autouse=True)
def _small_spark():
    """Let a session that a test starts be quick to start and to answer; whoever needs none starts none."""
    with patch.dict(spark._SESSION, SMALL_SPARK):
        yield
