"""Policy section on the search for a release."""

from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_serializer, field_validator, model_validator

from shoal import toml
from shoal.errors import DeclarationError
from shoal.qualities.quality import QUALITIES
from shoal.separation.separation import SEPARATIONS, Separation
from shoal.techniques.outliers import OUTLIERS, Outliers, usual_way
from shoal.techniques.technique import TECHNIQUES, Allows, Gives, Technique, allowing, giving, recodings, usual
from shoal.validation import Checked, Share, one_of

DEFAULT_BALANCE = 0.5
for _name in TECHNIQUES:
    if TECHNIQUES[_name].model_fields["kind"].default != _name:
        raise DeclarationError(
            "name-and-kind", "The technique '{name}' is registered by another name than its kind.", name=_name
        )
AnyTechnique: Any = Annotated[reduce(or_, TECHNIQUES.values()), Field(discriminator="kind")]
for _name in SEPARATIONS:
    if SEPARATIONS[_name].model_fields["kind"].default != _name:
        raise DeclarationError(
            "name-and-kind", "The separation '{name}' is registered by another name than its kind.", name=_name
        )
AnySeparation: Any = Annotated[reduce(or_, SEPARATIONS.values()), Field(discriminator="kind")]
_TABLE = "table"  # the usual form of a release
_FLAT = ("strict", "cuts")  # options of techniques that may also be given beside the technique (deprecated)


def _known_qualities(schema: dict[str, Any]) -> None:
    schema["enum"] = list(QUALITIES)


def _known_ways(schema: dict[str, Any]) -> None:
    schema["enum"] = list(OUTLIERS)


def _name_or_table(schema: dict[str, Any]) -> None:
    """Add the short form, the name of a technique alone, to the JSON Schema."""
    tables = {key: schema.pop(key) for key in ("discriminator", "oneOf", "anyOf") if key in schema}
    schema["anyOf"] = [{"enum": list(TECHNIQUES), "description": "technique with default options"}, tables]
    schema["default"] = usual().kind


def _form_or_table(schema: dict[str, Any]) -> None:
    """Add the short form, the name of a separation alone, to the JSON Schema."""
    tables = [part for part in schema.pop("anyOf") if part.get("type") != "null"]
    schema["anyOf"] = [{"enum": [_TABLE, *SEPARATIONS], "description": "form with default options"}, *tables]
    schema["default"] = _TABLE


class Search(Checked):
    """Options, limits and objective of the search for a release."""

    suppression: Share = Field(
        default=0.02,
        title="Suppression limit",
        description="maximum share of individuals who are suppressed or treated as outliers, 0 to 1",
    )
    quality: str = Field(
        default="loss",
        title="Information-loss measure",
        description="measure whose cost is minimised; the Compare page and the documentation explain them",
        json_schema_extra=_known_qualities,
    )
    balance: Share = Field(
        default=DEFAULT_BALANCE,
        description="balance between generalisation (towards 1) and suppression (towards 0); only for the measure loss",
    )
    target: str | None = Field(
        default=None, title="Target column", description="column to predict; only for the measure classification-metric"
    )
    recoding: AnyTechnique = Field(
        default=usual(),
        title="Technique",
        description=f"{' '.join(f'{name}: {TECHNIQUES[name].says}' for name in TECHNIQUES)}",
        json_schema_extra=_name_or_table,
    )
    refine: bool = Field(
        default=False, title="Refinement", description="whether generalisation is reduced class by class where possible"
    )
    independent: bool = Field(
        default=False,
        title="Independent of sensitive values",
        description="whether classes are formed from quasi-identifiers alone, with a minimum size that is increased "
        "until the requirements on sensitive values are met, so that generalisation and suppression disclose no value",
    )
    derivable: tuple[str, ...] = Field(
        default=(),
        title="Derivable columns",
        description="quasi-identifiers that are generalised although other released columns tell their values "
        "(default: this is refused)",
    )
    strict: bool | None = Field(
        default=None, deprecated=True, description='same as recoding = { kind = "…", strict = … }'
    )
    cuts: Literal["anywhere", "hierarchy"] | None = Field(
        default=None, deprecated=True, description='same as recoding = { kind = "…", cuts = … }'
    )
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="weights of the quasi-identifiers (default: 1)"
    )
    levels: dict[str, tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]]] = Field(
        default_factory=dict, description="lowest and highest level of a quasi-identifier"
    )
    outliers: str = Field(
        default=usual_way(),
        description="treatment of outliers, the individuals whose class does not meet the requirements: "
        + "; ".join(f"{name}: {OUTLIERS[name].brief}" for name in OUTLIERS),
        json_schema_extra=_known_ways,
    )
    seconds: float = Field(
        default=60,
        gt=0,
        title="Time limit (seconds)",
        description="time limit in seconds if there are too many schemes to evaluate",
    )
    sample: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        title="Sample to release",
        description="share of the individuals to release, drawn at random, 0 to 1 (default: all)",
    )

    publish: AnySeparation | None = Field(
        default=None,
        title="Form of the release",
        description=f"{_TABLE} (default): one table. "
        + " ".join(f"{name}: {SEPARATIONS[name].says}" for name in SEPARATIONS),
        json_schema_extra=_form_or_table,
    )

    @property
    def technique(self) -> Technique:
        """The technique with all its options, including those given beside it."""
        beside = {name: value for name in _FLAT if (value := self._flat(name)) is not None}
        known = {name: value for name, value in beside.items() if name in type(self.recoding).model_fields}
        return self.recoding.model_copy(update=known)  # type: ignore[no-any-return]

    @property
    def way(self) -> Outliers:
        """The treatment of outliers, the persons who fit into no class."""
        return OUTLIERS[self.outliers]

    def _flat(self, name: str) -> Any:
        return self.__dict__[name]  # avoids the deprecation warning of the field

    @field_serializer("recoding")
    def _short(self, technique: Technique) -> Any:
        return technique.short

    @field_serializer("publish")
    def _form(self, separation: Separation | None) -> Any:
        return _TABLE if separation is None else separation.short

    @model_validator(mode="before")
    @classmethod
    def _no_seed(cls, given: Any) -> Any:
        if isinstance(given, dict) and "seed" in given:
            raise ValueError('seed was replaced by a secret key: delete it, and set [draw] key_file = "draw.key"')
        return given

    @field_validator("recoding", mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        if isinstance(given, str):
            return {"kind": one_of(TECHNIQUES, "recoding", given)}
        return given

    @field_validator("publish", mode="before")
    @classmethod
    def _named_form(cls, given: Any) -> Any:
        if isinstance(given, str):
            return None if given == _TABLE else {"kind": one_of([_TABLE, *SEPARATIONS], "form of a release", given)}
        return given

    @field_validator("quality")
    @classmethod
    def _known(cls, name: str) -> str:
        return one_of(QUALITIES, "quality", name)

    @field_validator("outliers")
    @classmethod
    def _known_way(cls, name: str) -> str:
        return one_of(OUTLIERS, "way to deal with outliers", name)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        reversed_ = [name for name, (low, high) in self.levels.items() if low > high]
        if reversed_:
            raise ValueError(f"the levels of column '{reversed_[0]}' are reversed: give the lowest first")
        taken = QUALITIES[self.quality].model_fields
        if self.balance != DEFAULT_BALANCE and "balance" not in taken:
            raise ValueError('balance applies to the measure "loss" only')
        if self.target is None and "target" in taken:
            raise ValueError(f'the measure "{self.quality}" requires a target column')
        if self.target is not None and "target" not in taken:
            raise ValueError('target applies to the measure "classification-metric" only: clear it')
        for name in _FLAT:
            self._check_flat(name)
        self._check_allowed()
        if self.independent and self.recoding.reads_values:
            raise ValueError(f'independent cannot be combined with these options of recoding = "{self.recoding.kind}"')
        if self.independent and self.target is not None:
            raise ValueError("independent cannot be combined with a target column: clear it")
        if self.publish is not None and self.way.adds_records:
            raise ValueError(f'publish = "{self.publish.kind}" cannot be combined with outliers = "{self.outliers}"')
        return self

    def _check_flat(self, name: str) -> None:
        """Refuse an option that the technique does not have, or that is given twice."""
        value, having = self._flat(name), [each for each in TECHNIQUES.values() if name in each.model_fields]
        if value is None:
            return
        if name in self.recoding.model_fields_set:
            raise ValueError(f"{name} is given twice: under recoding, and beside it")
        if type(self.recoding) not in having and any(value != each.model_fields[name].default for each in having):
            raise ValueError(f"{name} = {toml.value(value)} can only be combined with {recodings(having)}")

    def _check_allowed(self) -> None:
        """Refuse options that cannot be combined with the technique."""
        allows, gives, kind = self.recoding.allows, self.recoding.gives, self.recoding.kind
        if self.refine and Allows.REFINE not in allows:
            raise ValueError(f"refine can only be combined with {recodings(allowing(Allows.REFINE))}")
        if self.levels and Allows.LEVELS not in allows:
            raise ValueError(f'levels cannot be combined with recoding = "{kind}", which has no levels')
        if self.outliers != usual_way() and Allows.OUTLIERS not in allows:
            raise ValueError(f'recoding = "{kind}" can only be combined with outliers = "{usual_way()}"')
        if self.way.needs_scheme and (self.refine or Gives.SCHEME not in gives):
            allowed = recodings(giving(Gives.SCHEME))
            raise ValueError(f'outliers = "{self.outliers}" can only be combined with {allowed}, without refine')
