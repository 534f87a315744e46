"""``shoal.anonymize``: the best release of a table that meets a policy."""

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, TypeAlias

from shoal.dataset.dataset import Dataset
from shoal.errors import PolicyError
from shoal.policy.policy import Policy
from shoal.progress import Hook, silent
from shoal.release.case import Case
from shoal.release.making import released
from shoal.release.measuring import check_limits, measured_limits
from shoal.release.release import Release
from shoal.release.together import released_together
from shoal.remedy import Both, Option, by, either
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.techniques.technique import gentlest
from shoal.validation import validated
from shoal.verbs.inputs import AnyPolicy, policy_of, table_of
from shoal.verbs.on_datasets import also

Names: TypeAlias = Sequence[str] | str | None


def _anonymize_dataset(
    data: Dataset, policy: AnyPolicy = None, *, progress: Hook | None = None, threads: int | None = None
) -> Release:
    """Find a release of linked tables, make it, and verify it.

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
    >>> release = shoal.anonymize(shoal.Dataset.read({"patients": patients, "stays": stays}, policy))
    >>> {name: table.records for name, table in release.tables.items()}
    {'patients': 4, 'stays': 5}
    """
    return released_together(data.under(policy), threads, progress or silent)


@also(_anonymize_dataset)
def anonymize(  # noqa: PLR0913 - keyword-only options
    data: Any,
    policy: AnyPolicy = None,
    *,
    quasi: Names = None,
    sensitive: Names = None,
    insensitive: Names = None,
    subject: str | None = None,
    k: int | None = None,
    suppression: float | None = None,
    progress: Hook | None = None,
    threads: int | None = None,
) -> Release:
    """Find the best release of a table or a dataset that meets a policy, make it, and verify it.

    ``data``: a table, a frame or a file, or a :class:`shoal.Dataset`. The scheme is the best of all by the quality
    measure of the policy. At most the share of persons that the policy allows is suppressed.

    Instead of a policy: ``quasi``, ``sensitive``, ``insensitive``, ``subject``: the columns with these roles. ``k``:
    every person shares the quasi-identifiers with at least k − 1 others. ``suppression``: the maximum share of
    suppressed persons (default: 0.02). Hierarchies are automatic. The technique is local recoding.
    Columns without a role are not released, which ``release.notes`` states.

    >>> import shoal
    >>> data = {"age": [31, 34, 71, 78], "dx": ["flu", "ms", "flu", "gout"]}
    >>> shoal.anonymize(data, quasi="age", sensitive="dx", k=2).to_frame("pyarrow").to_pydict()
    {'age': ['30-34', '30-34', '70-79', '70-79'], 'dx': ['flu', 'ms', 'flu', 'gout']}
    >>> policy = shoal.Policy.parse('''
    ... version = 1
    ... columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
    ... columns.dx = { role = "sensitive" }
    ... require = [{ model = "k-anonymity", k = 2 }]
    ... search = { suppression = 0 }
    ... ''')
    >>> release = shoal.anonymize(data, policy)
    >>> release.scheme, release.suppressed, release.met
    ({'age': 1}, 0, True)
    >>> release.to_frame("pyarrow").to_pydict()
    {'age': ['30-39', '30-39', '70-79', '70-79'], 'dx': ['flu', 'ms', 'flu', 'gout']}
    """
    options = {"quasi": quasi, "sensitive": sensitive, "insensitive": insensitive, "subject": subject}
    given = {name: names for name, names in options.items() if names is not None}
    goals = {name: _whole(goal) for name, goal in {"k": k, "suppression": suppression}.items() if goal is not None}
    if isinstance(policy, list | tuple | set):
        raise PolicyError(
            "not-a-policy", "The policy is a list of names.", remedy=by("Give the names by role", Option("quasi"))
        )
    if policy is not None and (given or goals):
        raise PolicyError(
            "policy-and-options",
            "A policy and {option} cannot be combined.",
            remedy="Put all of it into the policy, or give no policy.",
            option=next(iter([*given, *goals])),
        )
    if policy is not None:
        return _measured(released(case_of(data, policy), threads, progress or silent), progress)
    table = table_of(data)
    return released(Case.of(table, _policy_of(table, given, goals)), threads, progress or silent)


def _measured(release: Release, progress: Hook | None) -> Release:
    """Run the attacks whose success is limited by the policy, and judge the release by their results."""
    limits = release.policy.attack_limits
    if not limits:
        return release
    from shoal.verbs.attack import attack

    names = list(dict.fromkeys(limit.attack for limit in limits))
    sample = release.with_part(release.part.as_sample())  # persons outside it would make attacks seem harmless
    attacked = attack(sample.given, sample, attacks=names, progress=progress)
    judgements = measured_limits(limits, attacked)
    check_limits(judgements)
    return release.with_part(release.part.judged_also(judgements))


def _policy_of(table: Table, roles: Mapping[str, Any], goals: Mapping[str, Any]) -> Policy:
    """Return the policy that corresponds to the options."""
    if "quasi" not in roles or "k" not in goals:
        raise PolicyError(
            "nothing-asked",
            "Give a policy, or quasi-identifiers and k.",
            remedy=either(Option("policy", "policy.toml"), Both(Option("quasi", ["age", "sex"]), Option("k", 5))),
        )
    table = table.taking(**roles)  # refuses unknown columns, and columns with two roles
    columns = {name: str(role) for name, role in table.roles.items() if role is not Role.SUBJECT}
    document = {
        "version": 1,
        "columns": columns,
        "data": {} if table.subject is None else {"subject": table.subject},
        "require": [{"model": "k-anonymity", "k": goals["k"]}],
        "search": {"recoding": gentlest().kind, **{name: goals[name] for name in goals if name != "k"}},
    }
    return validated(Policy, document, where="An option", error=PolicyError)


def _whole(number: Any) -> Any:
    """Return an integer of any library as a Python integer, and other values unchanged."""
    return number if isinstance(number, bool) or not hasattr(number, "__index__") else index(number)


def case_of(data: Any, policy: AnyPolicy) -> Case:
    """Return a table and its policy as the case of a search."""
    chosen = policy_of(policy)
    return Case.of(table_of(data, chosen), chosen)
