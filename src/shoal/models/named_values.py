"""Named values: protection of selected sensitive values only, such as a stigmatising diagnosis."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.classes.histogram import Histogram
from shoal.classes.members import Counts
from shoal.errors import ModelError


def counts_of(histogram: Histogram, names: Sequence[str] | None, model: str) -> Counts:
    """Return the counts of a histogram, with 0 for values that are not named; without names, all values count."""
    if not names:
        return histogram.counts
    places = pc.index_in(pa.array(names, pa.string()), histogram.column.labels())
    if places.null_count:
        raise ModelError(
            "unknown-values",
            "The model {model} names {values:value} that column '{column}' does not have.",
            remedy="Write values exactly as they appear in the data.",
            model=model,
            values=places.null_count,
            column=histogram.column.name,
        )
    protected = np.isin(histogram.codes, places.to_numpy())
    return np.where(protected, histogram.counts, 0)
