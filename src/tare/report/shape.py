# SPDX-License-Identifier: Apache-2.0
"""How Tare's JSON is declared: values, schema and ``docs/json.md`` all come from the shapes of the report's topics.

A shape declares each key once, with its type, its meaning and the part of the record that it is taken from.
"""

import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema

from tare.records import SCHEMA, Estimate
from tare.treat.pairing import cell_of

FRACTION = "1"
"""The unit of an overhead: a pure number, where 0.05 is 5 %."""

Source = str | Callable[[Any], Any]
"""An attribute of the record, dotted where it lies deeper, or a function of the record."""
E = TypeVar("E", bound=Enum)


def key(meaning: str, source: Source | None = None, *, alias: str | None = None) -> Any:
    """Declare a key; without a source it is the record's attribute of the same name."""
    field = Field(description=meaning, serialization_alias=alias)
    if source is not None:
        field.metadata.append(attrgetter(source) if isinstance(source, str) else source)
    return field


class JsonShape(BaseModel):
    """An object of the JSON; ``model_validate`` makes it from a record."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _of_a_record(cls, record: Any) -> Any:
        return record if isinstance(record, Mapping | cls) else cls.taken(record)

    @classmethod
    def taken(cls, record: Any, **given: Any) -> dict[str, Any]:
        """Take each key that is not given from the record; nothing is in its own shape yet."""
        return {name: given[name] if name in given else cls._value(name, record) for name in cls.model_fields}

    @classmethod
    def _value(cls, name: str, record: object) -> object:
        sources = filter(callable, cls.model_fields[name].metadata)
        return next(sources, attrgetter(name))(record)


def _finite(value: float | None) -> float | None:
    """JSON has no infinity and no not-a-number: they are missing."""
    return value if value is not None and math.isfinite(value) else None


Number = Annotated[float | None, BeforeValidator(_finite)]
"""``None`` where it is missing or not finite."""


class ByName(Generic[E]):
    """A member of an enumeration, by its name in lower case."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        (kind,) = get_args(source)
        names = core_schema.literal_schema([member.name.lower() for member in kind])
        return core_schema.no_info_before_validator_function(lambda member: member.name.lower(), names)


class EstimateShape(JsonShape):
    """A figure with its interval."""

    point: Number = key("the value")
    low: Number = key("lower end of the interval; `null` where there is none")
    high: Number = key("upper end of the interval; `null` where there is none")
    level: Number = key(
        "level of the interval, such as 0.95; for exact intervals the level that is actually reached"
    )
    n: int = key("how many values it rests on")
    unit: str = key(
        'unit of point, low and high; `"1"` for a fraction, where 0.05 is 5 %', lambda _: FRACTION
    )


def in_unit(estimate: Estimate, unit: str) -> EstimateShape:
    """Give an estimate that is no fraction."""
    return EstimateShape.model_validate(EstimateShape.taken(estimate, unit=unit))


def without_interval(value: float, unit: str, n: int) -> EstimateShape:
    """Give a value that has no interval in the form of an estimate."""
    return EstimateShape(point=value, low=None, high=None, level=None, n=n, unit=unit)


Seconds = Annotated[EstimateShape, BeforeValidator(partial(in_unit, unit="s"))]
"""An estimate in seconds."""


class CellShape(JsonShape):
    """What was run, and on how much of the machine."""

    workload: str = key("the workload's name")
    layout: str = key("`NcMpKi`, after a `+` the neighbour and in brackets the levels of factors, if any")


class ArmShape(JsonShape):
    """What was seen of one environment in one cell."""

    cell: CellShape = key("the cell")
    environment: str = key("its name in the campaign, or `native`")


class SummaryShape(ArmShape):
    """The same, where the record holds it in its summary."""

    cell: CellShape = key("the cell", "summary.cell")
    environment: str = key("its name in the campaign, or `native`", "summary.environment")


class MetricShape(ArmShape):
    """What was seen of one metric there."""

    metric: str = key("the sample's name")


class TrialShape(JsonShape):
    """Which trial it was."""

    trial: str = key("its identity", "trial.identity")
    block: int = key("its block's number", "trial.block")
    cell: CellShape = key("the cell", cell_of)
    environment: str = key("as in a verdict", "trial.environment.name")


class Versioned(JsonShape):
    """An object that a command prints."""

    schema_version: int = key("the version of this description", lambda _: SCHEMA, alias="schema")


class CampaignShape(Versioned):
    """An object about one campaign."""

    campaign: str = key("the campaign's name")


def printed(shape: type[JsonShape], record: object) -> dict[str, Any]:
    """Give what ``json.dumps`` takes; a missing or not finite number is ``None``, never 0."""
    return shape.model_validate(record).model_dump(mode="json", by_alias=True)
