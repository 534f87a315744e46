"""The laboratory: the results of each stay, one per record."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.demo.stays import MEASURES

_UNITS = {
    "glucose": "mmol/L",
    "creatinine": "µmol/L",
    "urea": "mmol/L",
    "sodium": "mmol/L",
    "potassium": "mmol/L",
    "leukocytes": "10⁹/L",
    "platelets": "10⁹/L",
    "lactate": "mmol/L",
    "hemoglobin": "g/dL",
}


def laboratory(stays: dict[str, Any], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Generate results of blood tests on some days of each stay, near the value at admission."""
    tests, units = np.array(list(_UNITS)), np.array(list(_UNITS.values()))
    number = len(stays["admission_id"])
    stay = np.repeat(np.arange(number), 2 + rng.poisson(2.5, number))
    test = rng.integers(0, len(tests), len(stay))
    length = (stays["discharge_date"] - stays["admission_date"]).astype("timedelta64[D]").astype(np.int64)[stay]
    day = np.floor(rng.random(len(stay)) * np.minimum(length + 1, 15)).astype(np.int64)
    values = np.stack([stays[name] for name in tests.tolist()])[test, stay]
    typical, spread = np.array([MEASURES[name][:2] for name in tests.tolist()])[test].T
    values = np.maximum(values + 0.5 * spread * np.sqrt(day) * rng.normal(0, 1, len(stay)), 0.2 * typical)
    order = np.lexsort((test, day, stay))
    order = order[np.isfinite(values[order])]
    return {
        "admission_id": stays["admission_id"][stay[order]],
        "day": day[order],
        "test": tests[test[order]],
        "value": np.round(values[order], 1),
        "unit": units[test[order]],
    }
