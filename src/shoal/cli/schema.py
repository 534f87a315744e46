"""``shoal schema``: the JSON Schema of the policy file."""

import json
import sys


def schema() -> None:
    """Print the JSON Schema of policies."""
    from shoal.policy.policy import Policy

    sys.stdout.write(json.dumps(Policy.model_json_schema(), ensure_ascii=False, indent=2) + "\n")
