# SPDX-License-Identifier: Apache-2.0
"""iperf3: how many bytes per second get from one process to another over TCP or UDP, and what UDP loses.

In: a number of bytes. Out: the launch of client and server, and the client's JSON, which holds what the server counted.
Source: iperf3(1), version 3.12; docs/network-workloads.md.
"""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tare.errors import WrongOutput
from tare.records import Direction, Sample
from tare.units import parse_byte
from tare.untrusted import from_json
from tare.workloads import client_server, excerpt
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

_LAUNCH_S = 1.5
_GUESSED_BYTE_PER_S = 1e9
_LEAST_RECEIVED = 0.5
"""Share of TCP's bytes: iperf3's server stops counting when the client says that it has sent all."""
_BIT_PER_BYTE = 8
_MOST_DATAGRAM_BYTE = 65507
_ERROR = re.compile(r'^\t"error":\t"([^"\n]*)"$', re.MULTILINE)
"""How iperf3 says why it failed, with exit code 0."""
_USUAL_BYTE = {"tcp": 128 << 10, "udp": 1400}
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


def _amount(text: str) -> str:
    if not 1 <= parse_byte(text) < 1 << 50:
        raise ValueError(f"{text!r} must be more than 0 bytes, and less than 1 PiB")
    return text


class Iperf3Options(Options):
    """What is sent, and how."""

    protocol: Literal["tcp", "udp"] = "tcp"
    amount: Annotated[str, AfterValidator(_amount)] = "256 MiB"
    """Bytes in all."""
    length: Annotated[int, Field(ge=16, le=1 << 20)] | None = None
    """Of one write or datagram, in bytes; ``None``: 128 KiB, or 1400 B over UDP."""
    rate: Annotated[float, Field(gt=0, le=1e12)] | None = None
    """Bits per second that the client sends at most; ``None``: as fast as it can."""

    @model_validator(mode="after")
    def _check_datagram(self) -> Self:
        if self.protocol == "udp" and self.length_byte > _MOST_DATAGRAM_BYTE:
            raise ValueError(f"a datagram has at most {_MOST_DATAGRAM_BYTE} bytes; give a smaller length")
        return self

    @property
    def length_byte(self) -> int:
        return self.length or _USUAL_BYTE[self.protocol]


class _Iperf3Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class _Sum(_Iperf3Read):
    seconds: _Positive
    bytes: _Count
    retransmits: _Count | None = None
    jitter_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    lost_packets: int | None = None
    packets: _Count | None = None


class _End(_Iperf3Read):
    sum_sent: _Sum
    sum_received: _Sum
    sender_tcp_congestion: str | None = None


class _TestStart(_Iperf3Read):
    protocol: str
    blksize: int
    bytes: int


class _Start(_Iperf3Read):
    version: str
    test_start: _TestStart


class _Document(_Iperf3Read):
    start: _Start
    end: _End
    error: str | None = None


class Iperf3(WorkloadKind):
    """iperf3 as Debian ships it."""

    name = "iperf3"
    options_model: type[Options] = Iperf3Options
    primary_metric = "throughput_byte_per_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        chosen = own(Iperf3Options, options)
        rate = (
            _GUESSED_BYTE_PER_S
            if chosen.rate is None
            else min(chosen.rate / _BIT_PER_BYTE, _GUESSED_BYTE_PER_S)
        )
        return _LAUNCH_S + parse_byte(chosen.amount) / rate

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(Iperf3Options, options)
        client_server.require_pair(self.name, shape)
        port = str(client_server.service_port(shape))
        client = (
            *("iperf3", "--client", client_server.SERVER, "--port", port, "--json"),
            *("--bytes", str(parse_byte(chosen.amount)), "--length", str(chosen.length_byte)),
            *(("--udp",) if chosen.protocol == "udp" else ()),
            *("--bitrate", f"{chosen.rate or 0:.0f}"),
        )
        server = ("iperf3", "--server", "--port", port, "--logfile", "/dev/null")
        return Job(argv=client_server.launch(client, server, shape), program="iperf3")

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(Iperf3Options, options)
        document = _parse(output.stdout)
        _require_asked(chosen, document, output.stdout)
        received = document.end.sum_received
        rate = Sample(
            name=self.primary_metric,
            value=received.bytes / received.seconds,
            unit="B/s",
            direction=Direction.MORE,
        )
        return [rate, *(_datagram_samples(received, output.stdout) if chosen.protocol == "udp" else [])]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        try:
            document = _parse(output.stdout)
        except WrongOutput:
            return {}
        end, start = document.end, document.start
        facts = {
            "iperf3 version": start.version,
            "iperf3 protocol": f"{start.test_start.protocol}, {start.test_start.blksize} B at once",
            "iperf3 retransmitted segments": _shown(end.sum_sent.retransmits),
            "iperf3 lost datagrams": _shown(end.sum_received.lost_packets),
            "tcp congestion control": end.sender_tcp_congestion,
        }
        return {label: excerpt.printable(text) for label, text in facts.items() if text is not None}


def _shown(count: int | None) -> str | None:
    return None if count is None else str(count)


def _parse(stdout: str) -> _Document:
    begin = stdout.find("{\n")
    try:
        return _Document.model_validate(from_json(stdout[max(begin, 0) :]))
    except (ValueError, ValidationError) as error:
        said = _ERROR.search(stdout)
        why = said[1] if said else str(error).splitlines()[0]
        raise WrongOutput(f"iperf3: {excerpt.printable(why)[:200]}", excerpt.tail(stdout)) from None


def _require_asked(chosen: Iperf3Options, document: _Document, stdout: str) -> None:
    asked, start = parse_byte(chosen.amount), document.start.test_start
    sent, received = document.end.sum_sent.bytes, document.end.sum_received.bytes
    problem = None
    if document.error:
        problem = document.error
    elif (start.protocol, start.blksize, start.bytes) != (chosen.protocol.upper(), chosen.length_byte, asked):
        problem = f"it did another test: {start}"
    elif not asked <= sent < asked + 2 * chosen.length_byte:
        problem = f"{sent} bytes were sent instead of {asked}"
    elif not 0 < received <= sent + chosen.length_byte:
        problem = f"{received} bytes were received of {sent}"
    elif chosen.protocol == "tcp" and received < _LEAST_RECEIVED * sent:
        problem = f"the server counted {received} bytes of {sent} only"
    if problem:
        raise WrongOutput(f"iperf3: {excerpt.printable(problem)[:200]}", excerpt.tail(stdout))


def _datagram_samples(received: _Sum, stdout: str) -> list[Sample]:
    """The share that came, as a figure above 0; and by how much the times between them varied (RFC 1889)."""
    packets, lost = received.packets, received.lost_packets
    if not packets or lost is None or not 0 <= lost < packets:
        raise WrongOutput(f"iperf3 lost {lost} of {packets} datagrams", excerpt.tail(stdout))
    samples = [
        Sample(name="delivered_share", value=1 - lost / packets, unit="1", direction=Direction.MORE),
    ]
    if received.jitter_ms:
        jitter_s = received.jitter_ms * 1e-3
        samples += [Sample(name="jitter_s", value=jitter_s, unit="s", direction=Direction.LESS)]
    return samples
