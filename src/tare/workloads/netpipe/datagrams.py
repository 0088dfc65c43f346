# SPDX-License-Identifier: Apache-2.0
"""NetPIPE's curve over UDP, a datagram for each message, by native/bounce: Debian's package has no program for it.

A datagram that is not answered in time is lost: it is counted, has no time, and is sent again.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from tare.errors import WrongOutput
from tare.records import Direction, Sample
from tare.workloads import client_server, excerpt
from tare.workloads.kind import Job, Output, Shape
from tare.workloads.netpipe.output import Point, samples_of

MOST_BYTE = 65507
"""What UDP over IPv4 can carry: 65535 bytes less both headers."""
PATIENCE_MS = 500
"""How long a datagram's answer may take until it counts as lost."""
_Count = Annotated[int, Field(ge=0, le=1 << 60)]


class _SizeResult(client_server.BounceRead):
    size_byte: _Count
    time_s: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
    """One way."""
    answered: _Count
    lost: _Count


class _DatagramsResult(client_server.BounceRead):
    points: tuple[_SizeResult, ...]


def job(sizes: Sequence[int], rounds: int, repetitions: int, shape: Shape) -> Job:
    """The client in the first node and the server in the last, each told what both need."""
    bounce, port = client_server.bounce(shape), str(client_server.service_port(shape))
    asked = (str(PATIENCE_MS), str(rounds), str(repetitions), *map(str, sizes))
    client = (bounce, "send", client_server.SERVER, port, *asked)
    return Job(
        argv=client_server.launch(client, (bounce, "serve-datagrams", port), shape),
        program=bounce,
    )


def samples(output: Output, sizes: Sequence[int], answers: int) -> list[Sample]:
    """NetPIPE's samples, and the share of the datagrams that were answered; ``WrongOutput`` unless all sizes were."""
    points = client_server.bounced(_DatagramsResult, output).points
    if [point.size_byte for point in points] != list(sizes):
        raise WrongOutput(
            f"bounce sent {len(points)} sizes that are not the {len(sizes)} asked for",
            excerpt.tail(output.stdout),
        )
    if short := [point for point in points if point.answered != answers]:
        raise WrongOutput(
            f"{short[0].answered} datagrams of {short[0].size_byte} bytes were answered instead of {answers}",
            excerpt.tail(output.stdout),
        )
    answered = answers * len(points)
    delivered = answered / (answered + sum(point.lost for point in points))
    return [
        *samples_of([Point(point.size_byte, point.time_s) for point in points]),
        Sample(name="delivered_share", value=delivered, unit="1", direction=Direction.MORE),
    ]


def facts(output: Output) -> dict[str, str]:
    """How many datagrams were lost, and between which sizes."""
    try:
        lossy = [point for point in client_server.bounced(_DatagramsResult, output).points if point.lost]
    except WrongOutput:
        return {}
    lost = str(sum(point.lost for point in lossy))
    where = f" ({lossy[0].size_byte} to {lossy[-1].size_byte} B)" if lossy else ""
    return {"netpipe lost datagrams": f"{lost}{where}"}
