# SPDX-License-Identifier: Apache-2.0
"""Reads the line of JSON that native/npb prints, and accepts only a verified run of the requested problem."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tare.errors import WrongOutput
from tare.untrusted import from_json
from tare.workloads import excerpt

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _NpbRead(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Rank(_NpbRead):
    rank: int
    wall_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    """``None``, or 0 from older kernels: this rank took no part, such as the second of two in BT."""


class NpbCheck(_NpbRead):
    name: str
    computed: float
    published: float
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Relative; 0: the value must be equal, such as the ranks of keys."""


class Result(_NpbRead):
    """One run. ``wall_s`` is the slowest rank's time in the timed region, by MPI_Wtime."""

    kernel: str
    problem_class: Annotated[str, Field(alias="class")]
    ranks: Annotated[int, Field(gt=0)]
    active_ranks: Annotated[int, Field(gt=0)]
    threads: Annotated[int, Field(gt=0)]
    """Threads per rank."""
    messages: str = "own"
    """Programs before 2026-11-26 have no others."""
    wall_s: _Positive
    million_operations_per_s: _Positive
    operation: str
    verification: str
    checks: tuple[NpbCheck, ...]
    per_rank: Annotated[tuple[Rank, ...], Field(min_length=1)]
    simd: str
    simd_rule: str | None = None
    """Why this vector code, in the program's words; programs before 2026-11-23 give no reason."""
    follows: str

    @property
    def working_s(self) -> tuple[float, ...]:
        """The times of the ranks that took part."""
        return tuple(rank.wall_s for rank in self.per_rank if rank.wall_s)


def parse_result(stdout: str, kernel: str, problem_class: str) -> Result:
    """Parse the result; ``WrongOutput`` unless it is complete, verified, and of this kernel and class."""
    lines = stdout.strip().splitlines()
    try:
        result = Result.model_validate(from_json(lines[-1] if lines else ""), strict=False)
    except ValueError as error:
        raise WrongOutput("the kernel's line of JSON is missing or cut", excerpt.tail(stdout)) from error
    asked, ran = (kernel.upper(), problem_class), (result.kernel, result.problem_class)
    if asked != ran:
        raise WrongOutput(f"{' '.join(asked)} was asked, {' '.join(ran)} ran", excerpt.tail(stdout))
    if result.verification != "SUCCESSFUL" or not _all_right(result.checks):
        raise WrongOutput(f"verification {result.verification.lower()}", excerpt.tail(stdout))
    if not result.checks:
        raise WrongOutput("no value was verified", excerpt.tail(stdout))
    if len(result.per_rank) != result.ranks:
        raise WrongOutput(f"{result.ranks} ranks ran, {len(result.per_rank)} reported", excerpt.tail(stdout))
    if len(result.working_s) != result.active_ranks:
        raise WrongOutput(
            f"{result.active_ranks} of {result.ranks} ranks took part, but {len(result.working_s)} gave a time",
            excerpt.tail(stdout),
        )
    return result


def _all_right(checks: tuple[NpbCheck, ...]) -> bool:
    """Whether each value is correct, checked again from the figures: a wrong result may be a fast one."""
    return all(
        abs(check.computed - check.published) <= check.tolerance * abs(check.published) for check in checks
    )
