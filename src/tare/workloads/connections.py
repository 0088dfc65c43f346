# SPDX-License-Identifier: Apache-2.0
"""The rate of new connections: TCP connections opened, a byte sent there and back, and closed, a number of them.

In: how many, and how many at a time. Out: the launch of native/bounce as client and server, and the rate and the
percentiles that the client prints. docs/network-workloads.md.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from tare.errors import WrongOutput
from tare.records import Direction, Sample
from tare.workloads import client_server, excerpt
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

_LAUNCH_S = 1.0
_GUESSED_S = 1e-4
"""One connection within a node on a processor of 2024."""
_Count = Annotated[int, Field(ge=0, le=1 << 60)]
_Time = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class ConnectionsOptions(Options):
    """How many connections, and how many at once."""

    connections: Annotated[int, Field(ge=100, le=10_000_000)] = 10_000
    """In all, timed; a hundred more are opened before them."""
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    """Threads of the client, each opening its share one after the other, and as many of the server, each accepting."""

    @model_validator(mode="after")
    def _check_share(self) -> Self:
        if self.connections % self.parallel:
            raise ValueError(
                f"{self.connections} connections cannot be shared equally by {self.parallel} threads"
            )
        return self


class _ConnectionsResult(client_server.BounceRead):
    """The client's line; times are of single connections."""

    connections: _Count
    answered: _Count
    """By the server's own count."""
    threads: _Count
    wall_s: _Time
    mean_s: _Time
    p50_s: _Time
    p90_s: _Time
    p99_s: _Time
    p99_9_s: _Time
    most_s: _Time


class Connections(WorkloadKind):
    """Tare's own program."""

    name = "connections"
    options_model: type[Options] = ConnectionsOptions
    primary_metric = "connections_per_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        return _LAUNCH_S + _GUESSED_S * own(ConnectionsOptions, options).connections

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(ConnectionsOptions, options)
        client_server.require_pair(self.name, shape)
        bounce, port = client_server.bounce(shape), str(client_server.service_port(shape))
        threads = str(chosen.parallel)
        client = (bounce, "connect", client_server.SERVER, port, threads, str(chosen.connections))
        server = (bounce, "serve-connections", port, threads)
        return Job(argv=client_server.launch(client, server, shape), program=bounce)

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(ConnectionsOptions, options)
        result = _parse(chosen, output)
        rate = Sample(
            name=self.primary_metric,
            value=result.connections / result.wall_s,
            unit="1/s",
            direction=Direction.MORE,
        )
        percentiles = client_server.reported_percentiles("connection", chosen.connections)
        times = {"connection_s": result.mean_s}
        times |= {name: getattr(result, f"{label}_s") for label, name in percentiles.items()}
        return [rate, *(_time(name, value) for name, value in times.items())]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(ConnectionsOptions, options)
        facts = {"connections": f"{chosen.connections}, {chosen.parallel} at a time, ended by a reset"}
        try:
            return facts | {"slowest connection": f"{_parse(chosen, output).most_s:.3g} s"}
        except WrongOutput:
            return facts


def _parse(chosen: ConnectionsOptions, output: Output) -> _ConnectionsResult:
    result = client_server.bounced(_ConnectionsResult, output)
    done = (result.connections, result.answered, result.threads)
    if done != (chosen.connections, chosen.connections, chosen.parallel):
        raise WrongOutput(
            f"{result.answered} of {result.connections} connections were answered in {result.threads} threads, and"
            f" {chosen.connections} in {chosen.parallel} were to be",
            excerpt.tail(output.stdout),
        )
    times = (result.p50_s, result.p90_s, result.p99_s, result.p99_9_s, result.most_s)
    if list(times) != sorted(times):
        raise WrongOutput("bounce's percentiles do not ascend", excerpt.tail(output.stdout))
    return result


def _time(name: str, value: float) -> Sample:
    return Sample(name=name, value=value, unit="s", direction=Direction.LESS)
