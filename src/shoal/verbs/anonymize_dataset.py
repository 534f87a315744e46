"""``shoal.anonymize_dataset``: a release of linked tables."""

from pathlib import Path
from typing import Any

from shoal.dataset.dataset import Dataset
from shoal.policy.policy import Policy
from shoal.progress import Hook, silent
from shoal.release.release import Release
from shoal.release.together import released_together


def anonymize_dataset(
    source: Any, policy: Policy | str | Path, *, progress: Hook | None = None, threads: int | None = None
) -> Release:
    """Find a release of linked tables, make it, and verify it.

    ``source``: a folder with a file for each table, the address of a database, or a mapping of names to tables.

    >>> import os, shoal
    >>> os.environ["KEY"] = "0123456789abcdef"
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... data.subject = "patient"
    ... pseudonyms.key_variable = "KEY"
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... tables.patients.columns.sex = "quasi"
    ... tables.stays.columns.ward = "quasi"
    ... tables.stays.refers.patient = "patients.patient"
    ... ''')
    >>> patients = {"patient": [1, 2, 3, 4], "sex": ["f", "f", "m", "m"]}
    >>> stays = {"patient": [1, 2, 2, 3, 4], "ward": ["A", "A", "B", "B", "B"]}
    >>> found = shoal.anonymize_dataset({"patients": patients, "stays": stays}, policy)
    >>> {name: table.records for name, table in found.tables.items()}
    {'patients': 4, 'stays': 5}
    """
    hook = progress or silent
    return released_together(Dataset.of(source, policy, hook), threads, hook)
