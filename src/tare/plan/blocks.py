# SPDX-License-Identifier: Apache-2.0
"""``blocks``, ``[decision]`` and ``--fail-if``: the looks at a campaign, and their purpose."""

import difflib
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tare.plan.problems import nearest, shown
from tare.records import NATIVE, USUAL_MARGIN, USUAL_PRECISE_ABSOLUTE, USUAL_PRECISE_RELATIVE, FailIf

DEFAULT_LOOKS = (10, 16, 24, 32)
MOST_LOOKS = 50
MOST_BLOCKS = 1000
Count = Annotated[int, Field(ge=1, le=MOST_BLOCKS)]
_CONDITION = re.compile(
    r"(?P<what>.*?)\b(?P<of>overhead|loss)\s*>\s*(?P<percent>[-+]?\d{1,6}(?:\.\d{1,6})?)\s*%", re.ASCII
)
_METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_EXAMPLE = (
    'write such as "overhead > 2%", "docker overhead > 2%", "docker wall_s overhead > 2%" or "loss > 10%"'
)
_LEAST_PERCENT = -100.0
_MOST_NAMES = 2


class StrictTable(BaseModel):
    """A table without unknown keys or silent conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def one_or_several(value: object) -> object:
    """Turn a single text into a list of one."""
    return [value] if isinstance(value, str) else value


class PrecisionTable(StrictTable):
    """``precision = { absolute, relative }``: the half-width of an interval that is precise enough."""

    absolute: float = Field(default=USUAL_PRECISE_ABSOLUTE, ge=0, lt=1, allow_inf_nan=False)
    relative: float = Field(default=USUAL_PRECISE_RELATIVE, ge=0, lt=1, allow_inf_nan=False)


class DecisionTable(StrictTable):
    """``[decision]``: the conditions for which ``tare run`` fails."""

    fail_if: Annotated[list[str], BeforeValidator(one_or_several)] = []
    undecided: Literal["fail", "pass"] = "fail"


class BlocksTable(StrictTable):
    """``blocks = 10``, ``{ count, margin }`` or ``{ looks, margin, precision }``."""

    count: Count | None = None
    looks: list[Count] | None = Field(default=None, min_length=1, max_length=MOST_LOOKS)
    margin: float = Field(default=USUAL_MARGIN, gt=0, lt=1, allow_inf_nan=False)
    precision: PrecisionTable = PrecisionTable()

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return {"count": value}
        if not isinstance(value, dict):
            raise ValueError(  # noqa: TRY004 - pydantic turns only ValueError into a finding
                "must be a number such as 10, or { count, margin }, or { looks, margin }, "
                f"but is {shown(value)}"
            )
        return value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.count is not None and self.looks is not None:
            raise ValueError("has both count and looks; keep one")
        if self.looks is not None and self.looks != sorted(set(self.looks)):
            raise ValueError(f"looks must rise from block to block, but are {shown(self.looks)}")
        return self

    @property
    def planned(self) -> tuple[int, ...]:
        """Block counts at which a look takes place; the last is the maximum."""
        if self.looks:
            return tuple(self.looks)
        return DEFAULT_LOOKS if self.count is None else (self.count,)


def parse_fail_if(text: str, environments: Sequence[str]) -> FailIf:
    """Parse ``[ENVIRONMENT] [METRIC] overhead > NUMBER%``; the ``ValueError`` says what is wrong.

    ``loss`` in the place of ``overhead`` is of sharing experiments.
    ``environments`` are the campaign's: a single word outside them is a metric.
    """
    match = _CONDITION.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{shown(text)} is no condition; {_EXAMPLE}")
    percent = float(match["percent"])
    if percent <= _LEAST_PERCENT:
        raise ValueError(f"{shown(text)}: no {match['of']} is below -100 %")
    names = match["what"].replace(":", " ").split()
    if len(names) > _MOST_NAMES:
        raise ValueError(f"{shown(text)} names more than an environment and a metric; {_EXAMPLE}")
    environment, metric = _named(names, environments)
    return FailIf(
        text=text.strip(),
        threshold=percent / 100,
        environment=environment,
        metric=metric,
        loss=match["of"] == "loss",
    )


def _named(names: Sequence[str], environments: Sequence[str]) -> tuple[str | None, str | None]:
    """The environment and the metric that the words name."""
    if not names:
        return None, None
    if names[0] in environments:
        return names[0], _metric(names[1]) if len(names) == _MOST_NAMES else None
    alike = difflib.get_close_matches(names[0], environments, n=1, cutoff=0.75)
    if len(names) == _MOST_NAMES or alike or names[0] == NATIVE:
        raise ValueError(
            f"the campaign has no environment {shown(names[0])}{nearest(names[0], environments)}"
        )
    return None, _metric(names[0])


def _metric(name: str) -> str:
    if not _METRIC.fullmatch(name):
        raise ValueError(f"{shown(name)} is no name of a metric")
    return name
