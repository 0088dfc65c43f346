# SPDX-License-Identifier: Apache-2.0
"""iperf3, sockperf and connections: their launch as client and server, and their output as real runs left it."""

from dataclasses import replace

import pytest
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import InputError, WrongOutput
from tare.records import Direction, Sample
from tare.workloads import client_server
from tare.workloads.connections import Connections, ConnectionsOptions
from tare.workloads.iperf3 import Iperf3, Iperf3Options
from tare.workloads.kind import Job, Span
from tare.workloads.sockperf import MESSAGES, Sockperf, SockperfOptions

IPERF3, SOCKPERF, CONNECTIONS = Iperf3(), Sockperf(), Connections()
THOUSAND = ConnectionsOptions(connections=1000)
UDP = Iperf3Options(protocol="udp", amount="32 MiB", rate=1e9)
TCP_MESSAGES = SockperfOptions(protocol="tcp")
SPAN = Span(hosts=("n0", "n1"), subnet="198.18.0.0/24", addresses=(None, "198.18.0.11"))
ACROSS = replace(SHAPE, span=SPAN)


def named(samples: list[Sample]) -> dict[str, Sample]:
    return {sample.name: sample for sample in samples}


def sides(job: Job) -> tuple[list[str], list[str]]:
    """The words of the client's process and of the server's."""
    words = list(job.argv)
    between = words.index(":")
    return words[:between], words[between:]


@pytest.mark.parametrize(
    "job",
    [
        IPERF3.job(UDP, ACROSS),
        SOCKPERF.job(TCP_MESSAGES, ACROSS),
        CONNECTIONS.job(THOUSAND, ACROSS),
    ],
)
def test_the_client_calls_the_last_node_and_the_server_waits_for_it(job: Job) -> None:
    client, server = sides(job)
    called = client.index("call")
    assert client[called - 1] == server[server.index("serve") - 1] == "/opt/tare/bin/meet"
    assert client[called + 1 : called + 3] == ["198.18.0.11", "6200"]
    assert server[server.index("serve") + 1 :][:2] == ["6200", "5200"]
    assert client_server.SERVER in client


def test_within_a_node_the_client_calls_the_loopback() -> None:
    client, _ = sides(IPERF3.job(UDP, SHAPE))
    assert client[client.index("call") + 1] == "127.0.0.1"


def test_instances_that_share_a_loopback_have_ports_of_their_own() -> None:
    second = IPERF3.job(UDP, replace(SHAPE, instance=1))
    assert {"6200", "5200"} & set(second.argv) == set()
    assert {"6201", "5201"} <= set(second.argv)


@pytest.mark.parametrize("processors", [1, 3])
def test_a_client_and_a_server_take_two_processors(processors: int) -> None:
    with pytest.raises(InputError, match="layouts that fit: 1c2p1i"):
        SOCKPERF.job(TCP_MESSAGES, replace(SHAPE, processors=processors))


def test_iperf3_sends_a_number_of_bytes_and_no_number_of_seconds() -> None:
    client, _ = sides(IPERF3.job(UDP, SHAPE))
    assert client[client.index("--bytes") + 1] == str(32 << 20)
    assert not {"--time", "-t"} & set(client)


def test_sockperf_sends_each_message_at_a_time_fixed_beforehand() -> None:
    lines = (
        SOCKPERF.job(SockperfOptions(messages=100, rate=1000, size=32), SHAPE).files[MESSAGES].splitlines()
    )
    assert len(lines) == 100
    assert (lines[0], lines[1], lines[-1]) == ("0.100000, 32", "0.101000, 32", "0.199000, 32")


def test_tcp_gives_the_bytes_that_the_server_counted_by_its_time() -> None:
    (only,) = IPERF3.samples(Iperf3Options(), recorded("iperf3", "tcp-two-nodes"))
    assert (only.name, only.unit, only.direction) == ("throughput_byte_per_s", "B/s", Direction.MORE)
    assert only.value == pytest.approx(267583112 / 0.600513, rel=0.5)


def test_udp_gives_the_share_that_came_and_the_jitter() -> None:
    result = named(IPERF3.samples(UDP, recorded("iperf3", "udp-two-nodes")))
    assert set(result) == {"throughput_byte_per_s", "delivered_share", "jitter_s"}
    assert 0 < result["delivered_share"].value <= 1
    assert "iperf3 lost datagrams" in IPERF3.facts(UDP, recorded("iperf3", "udp-two-nodes"))


def test_a_refused_connection_is_wrong_though_iperf3_ends_with_zero() -> None:
    with pytest.raises(WrongOutput, match="unable to connect to server: Connection refused"):
        IPERF3.samples(Iperf3Options(), recorded("iperf3", "refused"))


@pytest.mark.parametrize(
    "options", [Iperf3Options(protocol="udp"), Iperf3Options(amount="1 GiB"), Iperf3Options(length=1000)]
)
def test_another_test_than_was_asked_for_is_wrong(options: Iperf3Options) -> None:
    with pytest.raises(WrongOutput, match="did another test"):
        IPERF3.samples(options, recorded("iperf3", "tcp-two-nodes"))


def test_round_trips_have_percentiles_as_many_as_the_messages_carry() -> None:
    many = named(SOCKPERF.samples(TCP_MESSAGES, recorded("sockperf", "tcp-two-nodes")))
    tails = [many[f"round_trip_p{each}_s"].value for each in ("50", "90", "99", "99_9")]
    assert tails == sorted(tails)
    assert "delivered_share" not in many
    assert many["round_trip_s"].unit == "s"


def test_lost_messages_are_a_share_and_no_error_over_udp() -> None:
    """sockperf puts colours around the line that says so."""
    result = named(SOCKPERF.samples(SockperfOptions(), recorded("sockperf", "udp-lossy")))
    assert result["delivered_share"].value == 0.9344


def test_messages_lost_over_tcp_and_a_cut_run_are_wrong() -> None:
    with pytest.raises(WrongOutput, match="got 9344 answers to 10000 messages over TCP"):
        SOCKPERF.samples(TCP_MESSAGES, recorded("sockperf", "udp-lossy"))
    with pytest.raises(WrongOutput, match="output is cut"):
        SOCKPERF.samples(TCP_MESSAGES, recorded("sockperf", "server-killed"))


def test_another_number_of_messages_is_wrong() -> None:
    with pytest.raises(WrongOutput, match="sent 10000 messages instead of 5000"):
        SOCKPERF.samples(SockperfOptions(messages=5000), recorded("sockperf", "udp-two-nodes"))


def test_connections_have_a_rate_and_as_many_percentiles_as_they_carry() -> None:
    output = recorded("connections", "two-nodes")
    result = named(CONNECTIONS.samples(THOUSAND, output))
    assert set(result) == {
        *("connections_per_s", "connection_s", "connection_p50_s", "connection_p90_s", "connection_p99_s")
    }
    rate = result["connections_per_s"]
    assert (rate.unit, rate.direction) == ("1/s", Direction.MORE)
    assert rate.value == pytest.approx(1000 / 1.28399807)
    assert rate.value <= 1 / result["connection_s"].value
    assert result["connection_p50_s"].value < result["connection_p99_s"].value


def test_connections_at_the_same_time_overlap() -> None:
    four = ConnectionsOptions(connections=1000, parallel=4)
    result = named(CONNECTIONS.samples(four, recorded("connections", "four-at-a-time")))
    assert result["connections_per_s"].value > 1 / result["connection_s"].value
    assert CONNECTIONS.facts(four, recorded("connections", "four-at-a-time"))["connections"] == (
        "1000, 4 at a time, ended by a reset"
    )


@pytest.mark.parametrize(
    "options",
    [ConnectionsOptions(connections=1001), ConnectionsOptions(connections=1000, parallel=4)],
)
def test_other_connections_than_were_asked_for_are_wrong(options: ConnectionsOptions) -> None:
    with pytest.raises(WrongOutput, match="1000 of 1000 connections were answered in 1 threads"):
        CONNECTIONS.samples(options, recorded("connections", "two-nodes"))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"answered":1000', '"answered":999', "999 of 1000 connections were answered"),
        ('"p50_s":', '"p50_s":999', "percentiles do not ascend"),
        ('"wall_s":', '"wall_s":-', "cannot be read"),
    ],
)
def test_a_line_of_connections_that_contradicts_itself_is_wrong(
    before: str, after: str, message: str
) -> None:
    output = recorded("connections", "two-nodes")
    with pytest.raises(WrongOutput, match=message):
        CONNECTIONS.samples(THOUSAND, replace(output, stdout=output.stdout.replace(before, after)))


def test_connections_whose_server_was_killed_are_wrong_in_the_words_of_the_program() -> None:
    with pytest.raises(WrongOutput, match="printed 0 lines") as caught:
        CONNECTIONS.samples(THOUSAND, recorded("connections", "server-killed"))
    assert "bounce: " in str(caught.value.excerpt)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (Iperf3Options, {"amount": "0"}, "more than 0 bytes"),
        (Iperf3Options, {"protocol": "udp", "length": 65508}, "at most 65507"),
        (SockperfOptions, {"messages": 100_000, "rate": 100}, "more than ten minutes"),
        (ConnectionsOptions, {"connections": 1000, "parallel": 3}, "shared equally by 3 threads"),
        (SockperfOptions, {"size": 13}, "greater than or equal to 14"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    model: type[Iperf3Options | SockperfOptions | ConnectionsOptions],
    options: dict[str, object],
    message: str,
) -> None:
    with pytest.raises(ValidationError, match=message):
        model.model_validate(options)
