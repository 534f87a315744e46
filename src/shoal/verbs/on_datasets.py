"""Verbs on datasets: the same call for a table and for several linked tables."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from shoal.dataset.dataset import Dataset
from shoal.dataset.place import of_table
from shoal.dataset.view import TableView, TableViews
from shoal.errors import PolicyError
from shoal.progress import Hook, Progress
from shoal.words import listed

Of = ParamSpec("Of")
OneTable_co = TypeVar("OneTable_co", covariant=True)
SeveralTables_co = TypeVar("SeveralTables_co", covariant=True)
Result = TypeVar("Result")


class Verb(Protocol[Of, OneTable_co, SeveralTables_co]):
    """A verb that gives one result for a table, and another for a dataset."""

    @overload
    def __call__(self, data: Dataset, /, *arguments: Any, **options: Any) -> SeveralTables_co: ...

    @overload
    def __call__(self, *arguments: Of.args, **options: Of.kwargs) -> OneTable_co: ...


def also(
    several: Callable[..., SeveralTables_co],
) -> Callable[[Callable[Of, OneTable_co]], Verb[Of, OneTable_co, SeveralTables_co]]:
    """Let a verb call another function if its first argument is a dataset.

    Options that the function does not have are refused, because they apply to a single table.
    """

    def decorated(verb: Callable[Of, OneTable_co]) -> Verb[Of, OneTable_co, SeveralTables_co]:
        first = next(iter(inspect.signature(verb).parameters))
        accepted = inspect.signature(several).parameters

        @wraps(verb)
        def called(*arguments: Any, **options: Any) -> Any:
            data = arguments[0] if arguments else options.get(first)
            if not isinstance(data, Dataset):
                return verb(*arguments, **options)
            given = {name: value for name, value in options.items() if value is not None}
            for name in given.keys() - accepted.keys() - {first}:
                raise PolicyError(
                    "option-of-single-table",
                    "The option '{option}' applies to a single table.",
                    remedy="The policy of a dataset describes the columns of each table.",
                    option=name,
                )
            return several(*arguments, **given)

        return cast("Verb[Of, OneTable_co, SeveralTables_co]", called)

    return decorated


def of_views(
    dataset: Dataset, work: Callable[[str, TableView], Result], doing: str, progress: Hook, *, least: int = 1
) -> tuple[dict[str, Result], tuple[str, ...]]:
    """Return the result for the view of each table, and a note on the tables without known attributes.

    ``least``: the number of quasi-identifiers and sensitive columns that a table must have.
    """
    views, results, empty = TableViews.of(dataset), dict[str, Result](), list[str]()
    for done, name in enumerate(dataset.tables):
        progress(Progress(f"{doing} {name}", done, len(dataset.tables)))
        with of_table(name):
            view = views.of_table(name)
            if view.shows and view.table.records and len(view.attributes) >= least:
                results[name] = work(name, view)
            else:
                empty.append(name)
    if not empty:
        return results, ()
    lacking = "quasi-identifiers" if least == 1 else f"{least} quasi-identifiers or sensitive columns"
    return results, (f"Not included, because they lack {lacking}, individuals or records: {listed(empty)}.",)
