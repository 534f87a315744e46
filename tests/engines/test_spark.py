"""Spark under load: what does not fit into its memory ends with an error, and never with a wait."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.spark


def test_memory_that_is_too_small_is_told():
    """A thread of Spark's that dies for lack of memory would be waited for for ever."""
    script = """
        from shoal.engines import spark
        from shoal.errors import ReadError
        from tests.conftest import SMALL_SPARK

        spark._SESSION.update(SMALL_SPARK | {"spark.driver.memory": "512m"})
        rows = spark.session().range(60_000).coalesce(1).selectExpr("repeat(cast(id as string), 1500) AS x")
        try:
            spark.SparkFrame(rows, "rows").drawn(1.0)
        except ReadError as error:
            print(error.hint)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, check=True, timeout=120, capture_output=True, text=True)
    assert "spark.driver.memory" in done.stdout
