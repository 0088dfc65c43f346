# SPDX-License-Identifier: Apache-2.0
"""sockperf: the round trip of each of a number of messages over TCP or UDP, sent at fixed times, with percentiles.

In: how many messages, how large, how often. Out: the launch of client and server, and the client's percentiles. Source:
sockperf(1), version 3.7; docs/network-workloads.md.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tare.errors import WrongOutput
from tare.records import Direction, Sample
from tare.workloads import client_server, excerpt
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

MESSAGES = "messages.csv"
_LAUNCH_S = 4.0
"""With sockperf's own warm-up and its wait at the end."""
_FIRST_S = 0.1
"""When the first message is sent: sockperf wants a time above 0."""
_MICROSECOND = 1e-6
_PERCENTILES: Mapping[str, str] = {"p50": "50.000", "p90": "90.000", "p99": "99.000", "p99_9": "99.900"}
"""As sockperf writes them."""
_TOTAL = re.compile(
    r"\[Total Run\] RunTime=\S+ sec; .*?SentMessages=(\d{1,12}); ReceivedMessages=(\d{1,12})$", re.MULTILINE
)
# Where messages were lost, the line has colours around it.
_DROPPED = re.compile(
    r"# dropped messages = (\d{1,12}); # duplicated messages = (\d{1,12});"
    r" # out-of-order messages = (\d{1,12})(?:\x1b\[0m)?$",
    re.MULTILINE,
)
_PERCENTILE = re.compile(r"---> percentile (\d{1,2}\.\d{3}) = +(\d{1,12}\.\d{3})$", re.MULTILINE)
_OBSERVED = re.compile(r"Total (\d{1,12}) observations")
_MEAN = re.compile(r"Summary: Round trip is (\d{1,12}\.\d{3}) usec$", re.MULTILINE)
_END = re.compile(r"---> <MIN> observation = +\d{1,12}\.\d{3}\n", re.MULTILINE)
_VERSION = re.compile(r"== version #(\S{1,40}) ==")


class SockperfOptions(Options):
    """Which messages are sent, and when."""

    protocol: Literal["tcp", "udp"] = "udp"
    messages: Annotated[int, Field(ge=100, le=100_000)] = 10_000
    rate: Annotated[int, Field(ge=1, le=100_000)] = 10_000
    """Messages per second: the times are fixed beforehand, and the same in every arm."""
    size: Annotated[int, Field(ge=14, le=65_000)] = 64
    """Of a message, in bytes."""

    @model_validator(mode="after")
    def _check_length(self) -> Self:
        if self.messages > 600 * self.rate:
            raise ValueError(f"{self.messages} messages at {self.rate} per second take more than ten minutes")
        return self


class Sockperf(WorkloadKind):
    """sockperf as Debian ships it."""

    name = "sockperf"
    options_model: type[Options] = SockperfOptions
    primary_metric = "round_trip_p50_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        chosen = own(SockperfOptions, options)
        return _LAUNCH_S + chosen.messages / chosen.rate

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(SockperfOptions, options)
        client_server.require_pair(self.name, shape)
        port, over = str(client_server.service_port(shape)), ("--tcp",) if chosen.protocol == "tcp" else ()
        client = (
            *("sockperf", "playback", *over, "-i", client_server.SERVER, "-p", port),
            *("--reply-every", "1", "--full-rtt", "--no-rdtsc", "--data-file", MESSAGES),
        )
        return Job(
            argv=client_server.launch(
                client, ("sockperf", "server", *over, "--uc-reuseaddr", "-p", port), shape
            ),
            files={MESSAGES: _timeline(chosen)},
            program="sockperf",
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(SockperfOptions, options)
        _require_whole(chosen, output)
        mean = _MEAN.search(output.stdout)
        times_us = {match[1]: match[2] for match in _PERCENTILE.finditer(output.stdout)}
        percentiles = client_server.reported_percentiles("round_trip", chosen.messages)
        wanted = {name: times_us.get(_PERCENTILES[label]) for label, name in percentiles.items()}
        wanted["round_trip_s"] = mean[1] if mean else None
        times = [_time(name, text, output.stdout) for name, text in wanted.items()]
        return times + list(_delivered(chosen, output.stdout))

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(SockperfOptions, options)
        version = _VERSION.search(output.stdout)
        facts = {"sockperf messages": f"{chosen.messages} of {chosen.size} B, {chosen.rate} per second"}
        facts["sockperf protocol"] = chosen.protocol
        return facts | ({"sockperf version": excerpt.printable(version[1])} if version else {})


def _timeline(options: SockperfOptions) -> str:
    """Lines of seconds and bytes, one for each message."""
    times_s = (_FIRST_S + number / options.rate for number in range(options.messages))
    return "".join(f"{time_s:.6f}, {options.size}\n" for time_s in times_s)


def _require_whole(options: SockperfOptions, output: Output) -> None:
    total, dropped, observed = (each.search(output.stdout) for each in (_TOTAL, _DROPPED, _OBSERVED))
    if not (total and dropped and observed and _END.search(output.stdout)):
        raise WrongOutput("sockperf's output is cut", excerpt.tail(output.stdout or output.stderr))
    sent, received = int(total[1]), int(total[2])
    lost, twice, misplaced = map(int, dropped.groups())
    problem = None
    if sent != options.messages:
        problem = f"sent {sent} messages instead of {options.messages}"
    elif not 0 < received <= sent or int(observed[1]) != received:
        problem = f"reports {observed[1]} times of {received} answers to {sent} messages"
    elif options.protocol == "tcp" and (received < sent or lost or twice or misplaced):
        problem = f"got {received} answers to {sent} messages over TCP"
    if problem:
        raise WrongOutput(f"sockperf {problem}", excerpt.tail(output.stdout))


def _delivered(options: SockperfOptions, stdout: str) -> Iterator[Sample]:
    """The share of messages that were answered, over UDP, which may lose some."""
    if options.protocol == "udp" and (total := _TOTAL.search(stdout)):
        value = int(total[2]) / int(total[1])
        yield Sample(name="delivered_share", value=value, unit="1", direction=Direction.MORE)


def _time(name: str, text: str | None, stdout: str) -> Sample:
    if text is None or float(text) == 0:
        raise WrongOutput(f"sockperf reports no {name}", excerpt.tail(stdout))
    return Sample(name=name, value=float(text) * _MICROSECOND, unit="s", direction=Direction.LESS)
