# SPDX-License-Identifier: Apache-2.0
"""NetPIPE: the time of a message from one process to another, over its size.

In: two processes, in one node or in two. Out: NPopenmpi's or NPtcp's launch, and its file of bytes and times as curves;
over UDP, for which there is no such program, native/bounce and its line.
Snell, Mikler, Gustafson, "NetPIPE: a network protocol independent performance evaluator" (1996); netpipe(1),
version 3.7.2; docs/netpipe.md.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tare.errors import InputError, WrongOutput
from tare.records import Sample
from tare.units import MEBIBYTE, format_byte
from tare.workloads import client_server, excerpt, mpi, mpi_job
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own
from tare.workloads.message_sizes import Bytes
from tare.workloads.netpipe import datagrams
from tare.workloads.netpipe.output import parse_points, samples_of

OUTPUT = "np.out"
PROCESSES = 2
TRIALS = 7
"""How often NetPIPE repeats the measurement of a size; it reports the shortest time."""

_PORT = 5002
_NOBODY_LISTENS = 246
"""NPtcp's exit code when it cannot connect."""
_LISTEN_LIMIT_S = 30
_LAUNCH_S = 1.0
_GUESSED_S = {"mpi": (1e-6, 3e-10), "tcp": (3e-5, 6e-10), "udp": (3e-5, 6e-10)}
"""One message within a node on a processor of 2024: seconds, and seconds per byte."""
_BUFFERS = re.compile(r"^Send and receive buffers are (\d+) and (\d+) bytes$", re.MULTILINE | re.ASCII)


def message_sizes(smallest: int, largest: int, perturbation: int) -> tuple[int, ...]:
    """Give all sizes in bytes, in NetPIPE's order: 1, 2, 3, 4, 6, 8, 12, 16, 24, ...

    Where the step is wide enough, ``perturbation`` bytes below and above each size are measured too, which may exceed
    ``largest``.
    """
    sizes: list[int] = []
    for size, step in _steps(smallest, largest):
        around = perturbation if step > perturbation + 1 else 0
        sizes += [size - around, size, size + around] if around else [size]
    return tuple(sizes)


def _steps(smallest: int, largest: int) -> Iterator[tuple[int, int]]:
    """Each size with the step to the next; the step doubles after every second size, except at the beginning."""
    size, step, count = smallest, max(smallest // 2, 1), int(smallest > 1)
    while size <= largest:
        if count > 2 and count % 2:  # noqa: PLR2004 - NetPIPE's own beginning
            step *= 2
        yield size, step
        size, count = size + step, count + 1


class NetpipeOptions(mpi_job.MpiOptions):
    """What is sent, over what, and how often."""

    protocol: Literal["mpi", "tcp", "udp"] = "mpi"
    smallest: Annotated[Bytes, Field(ge=1)] = 1
    """Bytes."""
    largest: Annotated[Bytes, Field(ge=1, le=128 * MEBIBYTE)] | None = None
    """Bytes; ``None``: 1 MiB, or what a datagram can carry. Beyond 256 MiB NetPIPE's count of bits overflows."""
    perturbation: Annotated[int, Field(ge=0)] = 0
    """Also measure this many bytes below and above each size."""
    repetitions: Annotated[int, Field(ge=10, le=1_000_000)] = 200
    """Round trips per measurement of a size. NetPIPE's own choice depends on one short timing, which a single
    disturbance spoils, so that arms would do different work; below 10 its 1 us clock may not advance."""

    @model_validator(mode="after")
    def _check_protocol(self) -> Self:
        if self.profile and self.protocol != "mpi":
            raise ValueError(f"profile = true watches MPI, and protocol = {self.protocol} has none")
        return self

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        if self.smallest > self.largest_byte:
            raise ValueError(f"smallest is {self.smallest} bytes, more than largest, {self.largest_byte}")
        sizes = self.sizes
        if self.protocol == "udp" and sizes[-1] > datagrams.MOST_BYTE:
            raise ValueError(
                f"a datagram has at most {datagrams.MOST_BYTE} bytes, not {sizes[-1]}; give a smaller largest"
            )
        if any(later <= earlier for earlier, later in itertools.pairwise(sizes)):
            raise ValueError(
                f"with perturbation = {self.perturbation} neighbouring sizes meet; give less, such as 3 or 0"
            )
        return self

    @property
    def largest_byte(self) -> int:
        if self.largest is not None:
            return self.largest
        return datagrams.MOST_BYTE - self.perturbation if self.protocol == "udp" else MEBIBYTE

    @property
    def sizes(self) -> tuple[int, ...]:
        """All message sizes, in bytes."""
        return message_sizes(self.smallest, self.largest_byte, self.perturbation)


class Netpipe(WorkloadKind):
    """NPopenmpi and NPtcp as Debian ships them, and Tare's own program over UDP."""

    name = "netpipe"
    options_model: type[Options] = NetpipeOptions
    primary_metric = "small_latency_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        """Guess from the messages sent within one node; between nodes they take longer."""
        chosen = own(NetpipeOptions, options)
        once_s, byte_s = _GUESSED_S[chosen.protocol]
        messages = 2 * TRIALS * chosen.repetitions
        return _LAUNCH_S + messages * sum(once_s + byte_s * size for size in chosen.sizes)

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(NetpipeOptions, options)
        _check_fits(chosen, shape)
        if chosen.protocol == "tcp":
            return Job(argv=_tcp(chosen, shape), collect=(OUTPUT,))
        if chosen.protocol == "udp":
            return datagrams.job(chosen.sizes, TRIALS, chosen.repetitions, shape)
        return Job(
            argv=(*mpi_job.launch(chosen, shape), "NPopenmpi", *_asked(chosen), "-o", OUTPUT),
            program="NPopenmpi",
            collect=(OUTPUT, *mpi_job.collected(chosen)),
            preflight=mpi.preflight(shape),
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(NetpipeOptions, options)
        if chosen.protocol == "udp":
            return datagrams.samples(output, chosen.sizes, TRIALS * chosen.repetitions)
        profiled = mpi_job.samples(chosen, output)
        text = output.files.get(OUTPUT)
        if text is None:
            raise WrongOutput(f"NetPIPE wrote no {OUTPUT}", excerpt.tail(output.stderr or output.stdout))
        return samples_of(parse_points(text, chosen.sizes)) + profiled

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(NetpipeOptions, options)
        facts = {
            "netpipe protocol": chosen.protocol,
            "netpipe time of a size": f"least of {TRIALS} means of {chosen.repetitions} round trips each, halved",
        }
        if chosen.protocol == "tcp":
            return facts | _socket_buffers(output.stderr)
        if chosen.protocol == "udp":
            return facts | datagrams.facts(output)
        return facts | mpi_job.facts(chosen, output)


def _check_fits(options: NetpipeOptions, shape: Shape) -> None:
    if shape.processors != PROCESSES:
        raise InputError(
            f"netpipe sends between exactly two processes, and an instance has {shape.processors} here; layouts that"
            " fit: 1c2p1i in one node, 2c1p1i between two, 1c4p2i for two pairs"
        )
    needed_byte = PROCESSES * options.sizes[-1]
    if needed_byte > shape.memory_byte:
        raise InputError(
            f"netpipe's two buffers need {format_byte(needed_byte)}, but an instance has"
            f" {format_byte(shape.memory_byte)}; give a smaller largest, or more memory"
        )


def _asked(options: NetpipeOptions) -> tuple[str, ...]:
    """Arguments that both processes must share."""
    sizes = ("-l", str(options.smallest), "-u", str(options.largest_byte), "-p", str(options.perturbation))
    return (*sizes, "-n", str(options.repetitions))


def _tcp(options: NetpipeOptions, shape: Shape) -> tuple[str, ...]:
    """The transmitter comes first, as with MPI, so that the file is written where the job's folder is.

    It gives up if nobody listens yet, so it is restarted. Instances that share a loopback have a port each.
    """
    receiver = "127.0.0.1" if shape.span is None else client_server.last_node(shape.span)
    side = ("NPtcp", "-P", str(_PORT + shape.instance), *_asked(options))
    patient = (f"{shape.tools_directory}/again", str(_NOBODY_LISTENS), str(_LISTEN_LIMIT_S))
    return mpi.launch_each(((*patient, *side, "-h", receiver, "-o", OUTPUT), side), shape)


def _socket_buffers(stderr: str) -> dict[str, str]:
    said = dict.fromkeys(_BUFFERS.findall(stderr))
    buffers = "; ".join(f"send {sent} B, receive {received} B" for sent, received in said)
    return {"tcp socket buffers": buffers} if buffers else {}
