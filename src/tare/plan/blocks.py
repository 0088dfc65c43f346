# SPDX-License-Identifier: Apache-2.0
"""``blocks`` and ``[decision]`` of a campaign file: the looks and their purpose."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tare.plan.problems import shown
from tare.records import USUAL_MARGIN, USUAL_PRECISE_ABSOLUTE, USUAL_PRECISE_RELATIVE

DEFAULT_LOOKS = (10, 16, 24, 32)
MOST_LOOKS = 50
MOST_BLOCKS = 1000
Count = Annotated[int, Field(ge=1, le=MOST_BLOCKS)]


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
