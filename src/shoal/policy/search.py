"""What a policy says about the search for a release."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from shoal.qualities.quality import QUALITIES
from shoal.validation import Checked, Share, one_of

DEFAULT_BALANCE = 0.5


def _known_qualities(schema: dict[str, Any]) -> None:
    schema["enum"] = list(QUALITIES)


class Search(Checked):
    """What the search for a release may do, and what it tries to keep."""

    suppression: Share = Field(
        default=0.02, description="the share of persons that may be left out, or be dealt with as outliers"
    )
    quality: str = Field(
        default="loss", description="the measure of quality that is to be best", json_schema_extra=_known_qualities
    )
    balance: Share = Field(
        default=DEFAULT_BALANCE,
        description="between generalising, cheaper from 0.5 to 1, and suppressing, from 0.5 to 0; of loss",
    )
    target: str | None = Field(
        default=None, description="the column that a classifier is to predict; of classification-metric"
    )
    recoding: Literal["global", "local", "mondrian", "subsets", "suppression"] = Field(
        default="global",
        description="global: all records are made coarser alike; local: each as little as it needs; mondrian: records "
        "are cut into classes at medians; suppression: single values are left out; subsets: so that k persons look "
        "alike to those who know any m columns",
    )
    refine: bool = Field(default=False, description="whether generalisation is undone, class by class, where it can be")
    strict: bool = Field(
        default=True, description="whether mondrian keeps records together that have the same value where it cuts"
    )
    cuts: Literal["anywhere", "hierarchy"] = Field(
        default="hierarchy",
        description="whether mondrian cuts numbers where their hierarchy does, or anywhere: then it shows exact ends",
    )
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="how much a quasi-identifier counts for the quality; 1 if nothing is said"
    )
    levels: dict[str, tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]] = Field(
        default_factory=dict, description="the lowest and the highest level that a quasi-identifier may be on"
    )

    outliers: Literal["suppress", "cells", "relocate", "counterfeits"] = Field(
        default="suppress",
        description="what becomes of persons who fit into no class: they are left out, lose single values, are moved "
        "into the nearest class, or get counterfeits beside them",
    )
    seconds: float = Field(
        default=60, gt=0, description="how long to search where there are too many schemes to look at all"
    )
    sample: float | None = Field(default=None, gt=0, lt=1, description="the share of persons to draw; None: all")

    @model_validator(mode="before")
    @classmethod
    def _no_seed(cls, given: Any) -> Any:
        if isinstance(given, dict) and "seed" in given:
            raise ValueError('seed was replaced by a secret key: delete it, and set [draw] key_file = "draw.key"')
        return given

    @field_validator("quality")
    @classmethod
    def _known(cls, name: str) -> str:
        return one_of(QUALITIES, "quality", name)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        reversed_ = [name for name, (low, high) in self.levels.items() if low > high]
        if reversed_:
            raise ValueError(f"the levels of column '{reversed_[0]}' are reversed: give the lowest first")
        taken = QUALITIES[self.quality].model_fields
        if self.balance != DEFAULT_BALANCE and "balance" not in taken:
            raise ValueError('balance is for quality = "loss"')
        if (self.target is not None) != ("target" in taken):
            raise ValueError('quality = "classification-metric" and target, the column to predict, go together')
        if self.recoding != "mondrian" and not self.strict:
            raise ValueError('strict = false is for recoding = "mondrian"')
        if self.recoding != "mondrian" and self.cuts == "anywhere":
            raise ValueError('cuts = "anywhere" is for recoding = "mondrian"')
        if self.refine and self.recoding in {"mondrian", "subsets"}:
            raise ValueError('refine is for recoding = "global", "local" or "suppression"')
        if self.recoding == "subsets" and self.outliers != "suppress":
            raise ValueError('with recoding = "subsets", outliers are left out: outliers = "suppress"')
        if self.outliers in {"cells", "counterfeits"} and (self.refine or self.recoding != "global"):
            raise ValueError(f'outliers = "{self.outliers}" is for recoding = "global" without refine')
        return self
