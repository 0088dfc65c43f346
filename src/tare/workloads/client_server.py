# SPDX-License-Identifier: Apache-2.0
"""A client and a server that know nothing of MPI, launched as one job of two processes: in one node, or in two."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from tare.errors import InputError, WrongOutput
from tare.untrusted import from_json
from tare.workloads import excerpt, mpi
from tare.workloads.kind import Output, Shape, Span

PROCESSES = 2
SERVER = "{server}"
"""In a client's command: the server's address as a number, which ``meet`` puts there."""
_SERVICE_PORT, _MEETING_PORT = 5200, 6200
"""Of the first instance: instances that share a loopback have ports of their own."""

_LEAST_COUNT: Mapping[str, int] = {"p50": 100, "p90": 100, "p99": 1000, "p99_9": 10_000}
"""Percentile → how many times it takes to say something: beyond it are ten of them."""
_BOUNCED = '{"program":"bounce",'


class BounceRead(BaseModel):
    """Base of what is read of ``bounce``'s line."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


Line = TypeVar("Line", bound=BounceRead)


def service_port(shape: Shape) -> int:
    """Where the server listens."""
    return _SERVICE_PORT + shape.instance


def last_node(span: Span) -> str:
    """The last node, by its address if known: nodes on other hosts cannot resolve node names."""
    return (span.addresses[-1] if span.addresses else None) or span.hosts[-1]


def launch(client: tuple[str, ...], server: tuple[str, ...], shape: Shape) -> tuple[str, ...]:
    """The argv that starts both, the client in the first node, where the job's folder is.

    ``meet`` starts the client once the server listens, and ends the server after the client.
    """
    meet, port = f"{shape.tools_directory}/meet", str(_MEETING_PORT + shape.instance)
    host = "127.0.0.1" if shape.span is None else last_node(shape.span)
    called = (meet, "call", host, port, *client)
    return mpi.launch_each((called, (meet, "serve", port, str(service_port(shape)), *server)), shape)


def require_pair(kind: str, shape: Shape) -> None:
    """Raise ``InputError`` unless an instance has a processor for each side."""
    if shape.processors != PROCESSES:
        raise InputError(
            f"{kind} is a client and a server, a processor for each, and an instance has {shape.processors} here;"
            " layouts that fit: 1c2p1i in one node, 2c1p1i between two, 1c4p2i for two pairs"
        )


def reported_percentiles(what: str, count: int) -> dict[str, str]:
    """Those percentiles that ``count`` times carry → the names of their metrics."""
    return {label: f"{what}_{label}_s" for label, least in _LEAST_COUNT.items() if count >= least}


def bounce(shape: Shape) -> str:
    """Tare's own client and server of connections and of datagrams."""
    return f"{shape.tools_directory}/bounce"


def bounced(model: type[Line], output: Output) -> Line:
    """What the client of ``bounce`` printed; ``WrongOutput`` unless it is one line that fits ``model``."""
    lines = [line for line in output.stdout.splitlines() if line.startswith(_BOUNCED)]
    if len(lines) != 1:
        said = excerpt.tail(output.stdout or output.stderr)
        raise WrongOutput(f"bounce printed {len(lines)} lines of results and not one", said)
    try:
        from_json(lines[0])  # refuses what would take long to read
        return model.model_validate_json(lines[0])
    except ValueError:
        raise WrongOutput("bounce's line of results cannot be read", excerpt.tail(lines[0])) from None
