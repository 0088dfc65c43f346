# SPDX-License-Identifier: Apache-2.0
"""The form of a paper's file, and how its percents become the bounds of a claim.

A number that a paper prints without an interval stands for half to twice of it: its hosts were others. "Near" and
"similar" stand for a difference below 5 %, which B16 (page 49) calls irrelevant. Bounds that a paper states are taken
as they are.
"""

import math
from collections.abc import Container
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from tare.records import NATIVE, OptionValue, Treatment
from tare.records.published import (
    ClaimKind,
    ClaimPlace,
    Paper,
    PrintedValue,
    PublishedClaim,
    Quantity,
    View,
)

ALIKE = 5.0
"""Percent."""
_SPAN = 2.0
"""A printed number stands for itself divided and multiplied by this."""
_WHOLE = -1.0
"""A rate cannot fall by more."""
_Percent = Annotated[float, Field(gt=0)]
_Range = Annotated[list[float], Field(min_length=2, max_length=2)]
_Size = StrictBool | _Percent | _Range
_Bounds = tuple[float | None, float | None]
_Limits = dict[str, list[float | Literal["any"]]]
_Identity = Annotated[str, Field(pattern=r"^[a-z0-9]+:(fig|table)[0-9]+[a-z]?$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Where(_Part):
    """Where something is measured; a view's claims take from the view what they lack."""

    workload: str | list[str] | None = None
    metric: str | None = None
    layout: str | list[str] | None = None
    options: dict[str, OptionValue] | None = None
    at: _Limits | None = None
    of: Literal["rate", "time"] | None = None


class ClaimTable(_Where):
    """``[[view.claim]]``: which environments, and one of the statements below."""

    text: str
    where: str | None = None
    environments: list[str] = Field(min_length=1)
    against: str = NATIVE
    against_layout: str | None = None
    against_metric: str | None = None
    against_options: dict[str, OptionValue] | None = None
    better: _Size | None = None
    worse: _Size | None = None
    alike: StrictBool | _Percent | None = None
    differs: _Size | None = None
    """In either direction."""
    at_most: _Percent | None = None
    """Worse by no more."""
    at_least: _Percent | None = None
    """Worse by no less."""
    variation_at_most: _Percent | None = None
    printed: float | None = None
    """The change in percent, where the claim is of another form."""
    alone: str | None = None
    among: list[str] = Field(default_factory=list)
    order_value: float | None = None
    otherwise: str | None = None
    """How the preset's own point differs from the paper's."""
    by_times: StrictBool = False
    """One environment in two places by its times, not by what it loses against native in each."""
    only: str | None = None
    """Of a file for two papers, the one that says it; ``None``: both do."""


class ValueTable(_Part):
    """``[[view.value]]``: a cell of a printed table."""

    row: str
    column: str
    value: str
    unit: str = ""


class OtherView(_Part):
    """``also`` of a view: the same in the file's other paper."""

    id: _Identity
    where: str
    note: str | None = None
    """``None``: the view's own."""


class ViewTable(_Where):
    """``[[view]]``."""

    id: _Identity
    where: str
    also: OtherView | None = None
    shows: str
    unit: str = ""
    note: str = ""
    claim: list[ClaimTable] = Field(default_factory=list)
    value: list[ValueTable] = Field(default_factory=list)


class OtherPaper(_Part):
    """``[also.NAME]``: a paper that printed the same."""

    short: str
    title: str


class PaperFile(_Part):
    """A whole file."""

    short: str
    title: str
    machines: str
    runs: str
    treatment: str | None = None
    also: dict[str, OtherPaper] = Field(default_factory=dict)
    view: list[ViewTable] = Field(min_length=1)

    def paper(self, identity: str) -> Paper:
        named = self.also.get(identity, self)
        return Paper(
            identity=identity,
            short=named.short,
            title=named.title,
            machines=self.machines,
            runs=self.runs,
            treatment=None if self.treatment is None else Treatment(self.treatment),
            views=tuple(_view(_own(table, identity, self.also), identity) for table in self.view),
        )


def _own(table: ViewTable, paper: str, others: Container[str]) -> ViewTable:
    """The view as this paper has it."""
    named = table.also.model_dump(exclude_none=True) if table.also and paper in others else {}
    claims = [claim for claim in table.claim if claim.only in {None, paper}]
    return table.model_copy(update={**named, "claim": claims})


def _view(table: ViewTable, paper: str) -> View:
    return View(
        identity=table.id,
        paper=paper,
        where=table.where,
        shows=table.shows,
        unit=table.unit,
        note=table.note,
        claims=tuple(_claim(each, table) for each in table.claim),
        values=tuple(PrintedValue(**each.model_dump()) for each in table.value),
        preset=paper,
    )


def _claim(table: ClaimTable, view: ViewTable) -> PublishedClaim:
    kind, quantity = _kind(table), _quantity(table, view)
    low, high = _bounds(table, quantity)
    return PublishedClaim(
        text=table.text,
        where=table.where or view.where,
        kind=kind,
        quantity=quantity,
        environments=tuple(table.environments),
        places=tuple(_places(table, view)),
        low=low,
        high=high,
        either_sign=table.differs is not None,
        printed=_printed(table, quantity),
        against=table.against,
        against_place=_other_place(table, view),
        alone=table.alone,
        among=tuple(table.among),
        value=table.order_value,
        by_times=table.by_times,
        otherwise=table.otherwise,
    )


def _kind(table: ClaimTable) -> ClaimKind:
    if table.among:
        return ClaimKind.BEST
    if table.alone is not None:
        return ClaimKind.LOSS
    if table.variation_at_most is not None:
        return ClaimKind.VARIATION
    if table.order_value is not None:
        return ClaimKind.ORDER
    return ClaimKind.COMPARISON


def _quantity(table: ClaimTable, view: ViewTable) -> Quantity:
    if table.variation_at_most is not None:
        return Quantity.VARIATION
    return Quantity(table.of or view.of or _missing(view, "of"))


def _places(table: ClaimTable, view: ViewTable) -> list[ClaimPlace]:
    layouts = _listed(table.layout or view.layout or _missing(view, "layout"))
    return [_place(table, view, table.metric or view.metric, layout, table.options) for layout in layouts]


def _other_place(table: ClaimTable, view: ViewTable) -> ClaimPlace | None:
    """Where the other arm is, if anything of it is stated."""
    if not (table.against_layout or table.against_metric or table.against_options):
        return None
    layout = table.against_layout or _listed(table.layout or view.layout or _missing(view, "layout"))[0]
    metric = table.against_metric or table.metric or view.metric
    return _place(table, view, metric, layout, table.against_options or table.options)


def _place(
    table: ClaimTable,
    view: ViewTable,
    metric: str | None,
    layout: str,
    options: dict[str, OptionValue] | None,
) -> ClaimPlace:
    limits = table.at or view.at
    return ClaimPlace(
        kinds=tuple(_listed(table.workload or view.workload or _missing(view, "workload"))),
        metric=metric or _missing(view, "metric"),
        layout=layout,
        options={**(view.options or {}), **(options or {})},
        at=None if limits is None else {name: _ends(ends) for name, ends in limits.items()},
    )


def _ends(ends: list[float | Literal["any"]]) -> _Bounds:
    least, most = (None if end == "any" else end for end in ends)
    return least, most


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _missing(view: ViewTable, key: str) -> str:
    raise ValueError(f"{view.id}: neither the view nor its claim says {key}")


def _bounds(table: ClaimTable, quantity: Quantity) -> _Bounds:
    """The change of the quantity that is claimed: a loss is a lower rate and a longer time."""
    if table.variation_at_most is not None:
        return None, table.variation_at_most / 100
    if table.alike is not None:
        most = (ALIKE if table.alike is True else table.alike) / 100
        return -most, most
    if table.differs is not None:
        return _extent(table.differs)
    if table.at_most is not None or table.at_least is not None:
        ends = tuple(None if each is None else each / 100 for each in (table.at_least, table.at_most))
        return _signed((ends[0], ends[1]), rising=quantity is Quantity.TIME)
    size = table.worse if table.worse is not None else table.better or bool(table.among)
    if not size:
        return None, None
    rising = (table.worse is not None) is (quantity is Quantity.TIME)
    return _signed(_extent(size), rising=rising)


def _extent(size: _Size) -> _Bounds:
    if size is True:
        return 0.0, None
    if isinstance(size, list):
        return size[0] / 100, None if math.isinf(size[1]) else size[1] / 100
    return size / 100 / _SPAN, size / 100 * _SPAN


def _signed(extent: _Bounds, *, rising: bool) -> _Bounds:
    least, most = extent
    if rising:
        return least, most
    low = None if most is None else max(-most, _WHOLE)
    return low, None if least is None else -least


def _printed(table: ClaimTable, quantity: Quantity) -> tuple[float, float] | None:
    size = next((each for each in (table.worse, table.better, table.differs) if each is not None), None)
    if table.variation_at_most is not None:
        return (most := table.variation_at_most / 100), most
    if table.printed is not None:
        return table.printed / 100, table.printed / 100
    if size is None or size is True:
        return None
    ends = [end for end in size if math.isfinite(end)] if isinstance(size, list) else [size]
    rising = table.differs is not None or (table.worse is not None) is (quantity is Quantity.TIME)
    known = [value / 100 if rising else -value / 100 for value in ends]
    return min(known), max(known)
