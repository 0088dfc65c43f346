# SPDX-License-Identifier: Apache-2.0
"""Reads the line of JSON that native/collective prints, and accepts only what was requested and verified."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tare.errors import WrongOutput
from tare.untrusted import from_json
from tare.workloads import excerpt

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(gt=0, lt=1 << 48)]


class _CollectiveRead(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class MeasuredSize(_CollectiveRead):
    """One message size. The times are of one call, each the mean of a rank's ``count`` calls."""

    size_byte: Annotated[int, Field(ge=0, lt=1 << 48)]
    count: _Count
    min_s: _Positive
    mean_s: _Positive
    max_s: _Positive
    wrong_ranks: int
    """Ranks that received something else than was sent."""


class CollectiveResult(_CollectiveRead):
    """One run."""

    benchmark: str
    mapping: str
    ranks: _Count
    active_ranks: _Count
    groups: _Count
    group_ranks: _Count
    nodes: _Count
    groups_in_node: Annotated[int, Field(ge=0, lt=1 << 48)]
    """Groups whose ranks are all in one node."""
    points: Annotated[tuple[MeasuredSize, ...], Field(min_length=1)]


def parse_result(stdout: str, benchmark: str, counts: tuple[tuple[int, int], ...]) -> CollectiveResult:
    """Parse a run that should have done these calls of these sizes; ``WrongOutput`` for any other."""
    lines = stdout.strip().splitlines()
    try:
        result = CollectiveResult.model_validate(from_json(lines[-1] if lines else ""), strict=False)
    except ValueError as error:
        raise WrongOutput("collective's line of JSON is missing or cut", excerpt.tail(stdout)) from error
    if result.benchmark != benchmark:
        ran = excerpt.printable(result.benchmark[:40])
        raise WrongOutput(f"{benchmark} was asked, {ran} ran", excerpt.tail(stdout))
    if tuple((point.size_byte, point.count) for point in result.points) != counts:
        raise WrongOutput("it did other sizes or another number of calls than asked", excerpt.tail(stdout))
    for point in result.points:
        if point.wrong_ranks:
            raise WrongOutput(
                f"{point.wrong_ranks} ranks received something else than was sent, in messages of"
                f" {point.size_byte} bytes",
                excerpt.tail(stdout),
            )
    if result.groups * result.group_ranks != result.active_ranks or result.active_ranks > result.ranks:
        raise WrongOutput("its groups do not hold its ranks", excerpt.tail(stdout))
    return result
