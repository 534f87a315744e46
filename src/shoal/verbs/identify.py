"""``shoal.identify``: a role for each column of a table, with reasons."""

from collections.abc import Sequence
from typing import Any

from shoal.dataset.dataset import Dataset
from shoal.identification.g_distinct import ALPHA, BETA
from shoal.identification.identification import Identification, identified
from shoal.identification.of_dataset import DatasetIdentification, identified_tables
from shoal.progress import Hook, silent
from shoal.verbs.inputs import table_of
from shoal.verbs.on_datasets import also


def _identify_dataset(
    data: Dataset, *, combinations: bool = True, orders: int | None = None, seed: int = 0, progress: Hook | None = None
) -> DatasetIdentification:
    """Propose the references between the tables of a dataset, and a role for each column of each table."""
    method: dict[str, Any] = {"direct": (), "method": "evidence", "alpha": ALPHA, "beta": BETA, "compat": None}
    options = {"combinations": combinations, "orders": orders, "seed": seed}
    return identified_tables(data.tables, progress or silent, **method, **options)


@also(_identify_dataset)
def identify(  # noqa: PLR0913 - keyword-only options
    data: Any,
    *,
    subject: str | None = None,
    direct: Sequence[str] = (),
    method: str = "evidence",
    alpha: float = ALPHA,
    beta: float = BETA,
    compat: str | None = None,
    combinations: bool = True,
    orders: int | None = None,
    seed: int = 0,
    progress: Hook | None = None,
) -> Identification:
    """Propose a role for each column of a table, with reasons.

    ``data``: a table, a frame or a file; or a :class:`shoal.Dataset`, whose references are proposed, too.
    ``subject``: the subject column, if its name does not suggest it. ``direct``: columns known to be direct
    identifiers; roles of the table count as given. ``method``: the method for all other columns: "evidence", or
    "g-distinct" with risk rates and the thresholds ``alpha`` and ``beta`` (Menten 2024; ``compat="menten-2024"``:
    identical to the thesis in every digit). ``combinations``: whether columns are also evaluated in combination.
    ``orders``: the number of random column orders if there are too many columns to count every subset.

    >>> import shoal
    >>> mails = ["ann@a.org", "bob@b.org", "cid@c.org", "dan@d.org", "eve@e.org"]
    >>> found = shoal.identify({"contact": mails, "age": [34, 71, 34, 50, 51]})
    >>> {name: one.role.value for name, one in found.columns.items()}
    {'contact': 'direct', 'age': 'quasi'}
    """
    return identified(
        table_of(data),
        subject=subject,
        direct=direct,
        method=method,
        alpha=alpha,
        beta=beta,
        compat=compat,
        combinations=combinations,
        orders=orders,
        seed=seed,
        progress=progress or silent,
    )
