# SPDX-License-Identifier: Apache-2.0
"""What an MPI program sends, and reads and writes through MPI-IO: sums over a profile's calls (docs/profiler.md)."""

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from tare.untrusted import from_json
from tare.workloads.profile import ProfilePart

_Count = Annotated[int, Field(ge=0)]


class Traffic(NamedTuple):
    """Of all ranks of one run."""

    messages: int
    message_byte: int
    file_byte: int


class _Amount(ProfilePart):
    messages: _Count = 0
    byte: _Count = 0


class _Call(ProfilePart):
    sent: _Amount | None = None
    written: _Amount | None = None
    read: _Amount | None = None


class _Rank(ProfilePart):
    calls: tuple[_Call, ...]


class _Counted(ProfilePart):
    schema_number: Literal[1] = Field(alias="schema")
    partial: Literal[False]
    profile: tuple[_Rank, ...]


def parse_traffic(text: str) -> Traffic:
    """Read a whole profile; ``ValueError`` if it is none, or lacks a rank."""
    calls = [call for rank in _Counted.model_validate(from_json(text)).profile for call in rank.calls]
    sent = [call.sent for call in calls if call.sent is not None]
    files = [amount for call in calls for amount in (call.written, call.read) if amount is not None]
    return Traffic(
        messages=sum(amount.messages for amount in sent),
        message_byte=sum(amount.byte for amount in sent),
        file_byte=sum(amount.byte for amount in files),
    )
