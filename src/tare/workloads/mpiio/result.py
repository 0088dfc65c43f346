# SPDX-License-Identifier: Apache-2.0
"""Reads the line of JSON that native/mpiio prints, and accepts only a run whose every byte was the right one."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tare.errors import WrongOutput
from tare.untrusted import from_json
from tare.workloads import excerpt

_Whole = Annotated[int, Field(gt=0, le=1 << 60)]
_Count = Annotated[int, Field(ge=0, le=1 << 60)]
WRITE_PHASES = ("create", "write", "sync", "close")
READ_PHASES = ("open", "read", "close")


class _MpiioRead(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class RankTime(_MpiioRead):
    rank: _Count
    wall_s: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class PhaseTimes(_MpiioRead):
    phase: str
    ranks: tuple[RankTime, ...]

    @property
    def seconds(self) -> tuple[float, ...]:
        """Each rank's own time, in the order of the ranks."""
        return tuple(rank.wall_s for rank in self.ranks)


class PointTimes(_MpiioRead):
    """One file: what its phases took on every rank."""

    record_byte: _Whole
    cached_byte: _Count | None
    """How much of the file was in the page cache before it was read; ``None``: not read, or not known."""
    verified_byte: _Count
    wrong_byte: _Count
    phases: tuple[PhaseTimes, ...]

    def seconds(self, phase: str) -> tuple[float, ...]:
        return next(each.seconds for each in self.phases if each.phase == phase)


class MpiioResult(_MpiioRead):
    """One run."""

    operation: str
    pattern: str
    interface: str
    collective: bool
    direct: bool
    ranks: _Whole
    size_byte: _Whole
    """Of each rank."""
    repetitions: _Whole
    file_system: _Count | None
    """Its number in statfs(2)."""
    library: str
    points: tuple[PointTimes, ...]

    @property
    def total_byte(self) -> int:
        """Moved by all ranks together."""
        return self.ranks * self.size_byte


def parse_result(stdout: str) -> MpiioResult:
    """The run's one line of JSON; ``WrongOutput`` for anything else."""
    lines = [line for line in stdout.splitlines() if line.startswith('{"program":"mpiio"')]
    if len(lines) != 1:
        raise WrongOutput(f"mpiio printed {len(lines)} lines of results and not one", excerpt.tail(stdout))
    try:
        return MpiioResult.model_validate_json(_checked(lines[0]))
    except ValueError as error:
        raise WrongOutput("mpiio's line of results cannot be read", excerpt.tail(stdout)) from error


def _checked(line: str) -> str:
    """The line itself; ``ValueError`` where it is no JSON, or JSON that would take long to read."""
    from_json(line)
    return line


def require_asked(result: MpiioResult, asked: dict[str, object], stdout: str) -> None:
    """``WrongOutput`` when another run than the one asked for is reported."""
    for name, value in asked.items():
        if (ran := getattr(result, name)) != value:
            raise WrongOutput(f"{name} = {value} was asked, {ran} ran", excerpt.tail(stdout))


def require_right(result: MpiioResult, records_byte: Sequence[int], stdout: str) -> None:
    """``WrongOutput`` unless every file is there, whole, in order, and every byte of it was verified."""
    wanted = [record for record in records_byte for _ in range(result.repetitions)]
    if [point.record_byte for point in result.points] != wanted:
        raise WrongOutput(
            f"{len(wanted)} files were to be measured, {len(result.points)} were", excerpt.tail(stdout)
        )
    phases = WRITE_PHASES if result.operation == "write" else READ_PHASES
    for point in result.points:
        if point.wrong_byte or point.verified_byte != result.total_byte:
            raise WrongOutput(
                f"of {result.total_byte} bytes in records of {point.record_byte}, {point.verified_byte} were verified"
                f" and {point.wrong_byte} were wrong",
                excerpt.tail(stdout),
            )
        if tuple(each.phase for each in point.phases) != phases:
            raise WrongOutput(f"not the phases {', '.join(phases)}", excerpt.tail(stdout))
        for each in point.phases:
            if [rank.rank for rank in each.ranks] != list(range(result.ranks)):
                raise WrongOutput(
                    f"not every rank gave its time of the phase {each.phase}", excerpt.tail(stdout)
                )
