"""Remedies on the command line: settings are lines of the policy file, options are flags."""

from collections.abc import Sequence
from typing import Any

from shoal.remedy import policy_column, policy_line

# Options that no command has.
_PYTHON_ONLY = {
    "population",
    "hierarchies",
    "combinations",
    "y",
    "first",
    "threads",
    "beside",
    "suffix",
    "column",
    "threshold",
}


class CommandLine:
    """Wording of remedies for the command line."""

    def setting(self, key: str, value: Any) -> str:
        """Return the instruction for a setting in the policy file."""
        return policy_line(key, value)

    def column_setting(self, column: str, part: str, value: Any) -> str:
        """Return the instruction for a setting of a column in the policy file."""
        return policy_column(column, part, value)

    def option(self, name: str, value: Any) -> str:
        """Return the instruction for the flag; empty if no command has it.

        >>> CommandLine().option("header", False), CommandLine().option("quasi", ["age", "sex"])
        ('add --no-header', 'add --quasi age,sex')
        >>> CommandLine().option("encoding", "cp1252"), CommandLine().option("key", "…")
        ('add --encoding cp1252', 'add --key …')
        """
        if name in _PYTHON_ONLY:
            return ""
        flag = name.replace("_", "-")
        if len(flag) == 1:
            return f"add -{flag} {value}"
        if isinstance(value, bool):
            return f"add --{'' if value else 'no-'}{flag}"
        several = isinstance(value, Sequence) and not isinstance(value, str)
        return f"add --{flag} {','.join(map(str, value)) if several else value}"


COMMAND_LINE = CommandLine()
