"""Forms of a release in several tables: time, error of counts, and what is learned from them.

    python benchmarks/forms.py ADULT.csv [--records 1000000] [--pictures FOLDER]

Buckets of --records values (the places alone, and the whole anonymize), slicing of the Adult data, and all forms of the
Adult data with l = 5, with the occupation as the sensitive column and seven quasi-identifiers, unchanged. In CPU
seconds. With --pictures, forms.svg shows all forms.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

import shoal
from shoal.separation.anatomy import anatomised

QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")
L = 5


def policy(columns, **publish):
    """Return a policy with raw quasi-identifiers; the last column is sensitive."""
    *quasi, sensitive = columns
    search = {"publish": {**publish, "l": L, "identities_public": True}} if publish else {}
    roles = {**dict.fromkeys(quasi, "quasi"), sensitive: "sensitive"}
    return shoal.Policy.model_validate({"version": 1, "columns": roles, "search": search})


def seconds(work):
    """Return the CPU time of some work, and its result."""
    begun = time.process_time()
    result = work()
    return round(time.process_time() - begun, 3), result


def of_many(number):
    """Return the times of buckets of many values, of which the most frequent has about a tenth."""
    rng = np.random.default_rng(1)
    values = np.minimum(rng.zipf(1.5, number) - 1 + rng.integers(0, 8, number), 40).astype(np.uint8)
    words = rng.integers(0, 1 << 63, 2 * number, dtype=np.uint64)
    dealing, buckets = seconds(lambda: anatomised(values, L, words))
    table = shoal.read({"age": rng.integers(0, 90, number), "sex": rng.integers(0, 2, number), "dx": values})
    whole, _ = seconds(lambda: shoal.anonymize(table, policy(("age", "sex", "dx"), kind="buckets")))
    return {"records": number, "buckets": int(buckets.max()) + 1, "dealing": dealing, "anonymize": whole}


def of_adult(path, pictures):
    """Return the time of slicing, and the comparison of all forms."""
    adult, columns = shoal.read(path), (*QUASI, "occupation")
    slicing, release = seconds(lambda: shoal.anonymize(adult, policy(columns, kind="slicing")))
    comparing, forms = seconds(lambda: shoal.compare_forms(adult, policy(columns), l=L))
    if pictures is not None:
        shoal.charts.forms(forms).save(pictures / "forms.svg", force=True)
    tables = {name: table.names for name, table in release.tables.items()}
    return {"slicing": slicing, "tables": tables, "comparing": comparing, **forms.to_dict()}


def main():
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("adult", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    found = {"many": of_many(asked.records), "adult": of_adult(asked.adult, asked.pictures)}
    print(json.dumps({**found, "load": os.getloadavg()[0]}, indent=2, default=str))


if __name__ == "__main__":
    main()
