# SPDX-License-Identifier: Apache-2.0
"""NetPIPE's launch, and its output as real runs of both programs left it."""

import itertools
import statistics
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded, with_file

from tare.errors import InputError, WrongOutput
from tare.records import Coordinate, Direction, Sample
from tare.workloads.kind import Output, Span
from tare.workloads.netpipe import OUTPUT, Netpipe, NetpipeOptions, message_sizes
from tare.workloads.netpipe.output import BIT_PER_MEGABIT, parse_points

NETPIPE = Netpipe()
DEFAULT = NetpipeOptions()
TCP = NetpipeOptions(protocol="tcp")
UDP = NetpipeOptions(protocol="udp", repetitions=10)
SPAN = Span(hosts=("n0", "n1"), subnet="198.18.0.0/24")

REAL_SIZES = {
    (1, 100, 0): "1 2 3 4 6 8 12 16 24 32 48 64 96",
    (1, 100, 1): "1 2 3 4 6 7 8 9 11 12 13 15 16 17 23 24 25 31 32 33 47 48 49 63 64 65 95 96 97",
    (1, 100, 3): "1 2 3 4 6 8 12 13 16 19 21 24 27 29 32 35 45 48 51 61 64 67 93 96 99",
    (2, 100, 0): "2 3 4 6 8 12 16 24 32 48 64 96",
    (5, 100, 3): "5 7 9 13 14 17 20 22 25 28 30 33 36 46 49 52 62 65 68 94 97 100",
    (7, 7, 3): "7",
    (1, 40, 5): "1 2 3 4 6 8 12 11 16 21 19 24 29 27 32 37",
    (1000, 30000, 0): "1000 1500 2000 3000 4000 6000 8000 12000 16000 24000",
}
"""Smallest, largest, perturbation → what NPopenmpi 3.7.2 measured."""


def samples(case: str, options: NetpipeOptions = DEFAULT) -> list[Sample]:
    return NETPIPE.samples(options, recorded("netpipe", case))


def named(samples: list[Sample], name: str) -> list[Sample]:
    return [sample for sample in samples if sample.name == name]


def text_of(case: str) -> str:
    return recorded("netpipe", case).files[OUTPUT]


@pytest.mark.parametrize(("asked", "real"), REAL_SIZES.items())
def test_the_expected_sizes_are_those_that_netpipe_measures(asked: tuple[int, int, int], real: str) -> None:
    assert message_sizes(*asked) == tuple(map(int, real.split()))


@given(smallest=st.integers(1, 1 << 20), largest=st.integers(1, 1 << 27), perturbation=st.integers(0, 10_000))
def test_accepted_sizes_rise_from_about_the_smallest_to_about_the_largest(
    smallest: int, largest: int, perturbation: int
) -> None:
    try:
        options = NetpipeOptions(smallest=smallest, largest=largest, perturbation=perturbation)
    except ValidationError:
        assume(False)
    assert all(earlier < later for earlier, later in itertools.pairwise(options.sizes))
    assert smallest - perturbation <= options.sizes[0] <= smallest
    assert largest / 2 < options.sizes[-1] <= largest + perturbation


@pytest.mark.parametrize("case", ["mpi", "tcp", "two-nodes"])
def test_a_recorded_run_gives_both_curves_and_both_figures(case: str) -> None:
    result = samples(case)
    latencies, rates = named(result, "latency_s"), named(result, "bandwidth_byte_per_s")
    assert [sample.coordinates for sample in latencies] == [
        (Coordinate("size", float(size), "B"),) for size in DEFAULT.sizes
    ]
    assert [sample.coordinates for sample in rates] == [sample.coordinates for sample in latencies]
    assert {(sample.unit, sample.direction) for sample in latencies} == {("s", Direction.LESS)}
    assert {(sample.unit, sample.direction) for sample in rates} == {("B/s", Direction.MORE)}
    for latency, rate in zip(latencies, rates, strict=True):
        assert latency.value * rate.value == pytest.approx(latency.coordinates[0].value)
    scalars = {sample.name: sample for sample in result if not sample.coordinates}
    assert set(scalars) == {"small_latency_s", "large_bandwidth_byte_per_s"}
    small = [sample.value for sample in latencies if sample.coordinates[0].value < 64]
    assert len(small) == 11
    assert scalars["small_latency_s"].value == statistics.median(small)
    assert scalars["large_bandwidth_byte_per_s"].value == rates[-1].value


@pytest.mark.parametrize("case", ["mpi", "tcp", "two-nodes"])
def test_the_time_is_that_of_the_column_with_more_digits(case: str) -> None:
    for line, point in zip(
        text_of(case).splitlines(), parse_points(text_of(case), DEFAULT.sizes), strict=True
    ):
        size, rate, time = line.split()
        assert point.size_byte == int(size)
        assert point.time_s == pytest.approx(float(time), abs=0.51e-8)
        assert point.time_s == pytest.approx(8 * int(size) / (float(rate) * BIT_PER_MEGABIT), rel=1e-4)


def test_a_slow_message_keeps_the_digits_of_its_seconds() -> None:
    (point,) = parse_points("       1 0.000011   0.69360001\n", [1])
    assert point.time_s == 0.69360001


def test_without_small_messages_the_latency_is_that_of_the_smallest() -> None:
    lines = text_of("mpi").splitlines(keepends=True)
    options = NetpipeOptions(smallest=512, largest=1024)
    chosen = "".join(line for line in lines if int(line.split()[0]) in options.sizes)
    result = NETPIPE.samples(options, Output(stdout="", stderr="", files={OUTPUT: chosen}))
    (latency,) = named(result, "small_latency_s")
    assert latency.value == named(result, "latency_s")[0].value


def wrong(text: str | None, options: NetpipeOptions = DEFAULT) -> str:
    output = recorded("netpipe", "mpi")
    output = replace(output, files={}) if text is None else with_file(output, OUTPUT, text)
    with pytest.raises(WrongOutput) as caught:
        NETPIPE.samples(options, output)
    assert NETPIPE.facts(options, output)
    return str(caught.value)


def test_a_run_whose_receiver_was_killed_is_wrong() -> None:
    assert "ends at 2 bytes, after 2 of 40 sizes: the run was cut short" in wrong(text_of("receiver-killed"))


def test_a_run_that_stopped_at_a_second_says_what_to_do() -> None:
    assert "stops when a message takes a second; give a smaller largest" in wrong(text_of("stopped"))


def test_a_missing_and_an_empty_file_are_wrong() -> None:
    assert "wrote no np.out" in wrong(None)
    assert "measured nothing" in wrong("")


def test_a_cut_in_a_line_is_wrong() -> None:
    assert "ends within a line" in wrong(text_of("mpi")[:-4])


def test_a_run_of_other_sizes_is_wrong() -> None:
    text = text_of("mpi")
    assert "has 2 bytes where 1 were" in wrong(text.partition("\n")[2])
    assert "has 1 bytes where 64 were" in wrong(text, NetpipeOptions(smallest=64))
    assert "goes on after its last size, 98304 bytes" in wrong(text, NetpipeOptions(largest=100_000))
    lines = text.splitlines(keepends=True)
    assert "has 6 bytes where 4 were" in wrong("".join([*lines[:3], lines[4], lines[3], *lines[5:]]))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("       1 19.452888", "not bytes, Mbps and seconds"),
        ("       1 19.452888   0.00000039 7", "not bytes, Mbps and seconds"),
        ("       1 -19.45288  -0.00000039", "not bytes, Mbps and seconds"),
        ("       1 inf   0.00000000", "not bytes, Mbps and seconds"),
        ("       1 19.452888   0.00000000", "has a zero"),
        ("       1 0.000000   0.00000039", "has a zero"),
        ("       0 19.452888   0.00000039", "has a zero"),
        ("       1 19.452888   0.00000049", "contradicts itself"),
        ("", "not bytes, Mbps and seconds"),
        ("\N{ARABIC-INDIC DIGIT ONE} 19.452888   0.00000039", "not bytes, Mbps and seconds"),
    ],
)
def test_an_impossible_line_is_wrong(line: str, words: str) -> None:
    rest = text_of("mpi").partition("\n")[2]
    assert words in wrong(f"{line}\n{rest}")


def test_a_forbidden_single_copy_that_was_asked_for_is_wrong_and_else_a_fact() -> None:
    refused = "[n0:00012] Read -1, expected 4096, errno = 1"
    output = replace(recorded("netpipe", "mpi"), stderr=refused)
    with pytest.raises(WrongOutput, match="forbids single_copy"):
        NETPIPE.samples(NetpipeOptions(single_copy="cma"), output)
    natural = NetpipeOptions(single_copy="natural")
    assert NETPIPE.samples(natural, output)
    assert NETPIPE.facts(natural, output)["mpi single copy"] == "natural, refused here"


def test_the_facts_say_what_a_time_is_and_what_carried_the_messages() -> None:
    local = NETPIPE.facts(DEFAULT, recorded("netpipe", "mpi"))
    assert local["netpipe time of a size"] == "least of 7 means of 200 round trips each, halved"
    assert local["mpi transport"] == "shared memory"
    across = NETPIPE.facts(DEFAULT, recorded("netpipe", "two-nodes"))
    assert across["mpi transport"].startswith("TCP (198.18.")
    assert NETPIPE.facts(TCP, recorded("netpipe", "tcp"))["tcp socket buffers"] == (
        "send 16384 B, receive 131072 B"
    )


def test_both_processes_of_a_tcp_pair_are_told_the_same() -> None:
    argv = NETPIPE.job(TCP, SHAPE).argv
    sender, receiver = " ".join(argv).split(" : ")
    asked = "NPtcp -P 5002 -l 1 -u 1048576 -p 0 -n 200"
    assert sender.endswith(f"/again 246 30 {asked} -h 127.0.0.1 -o np.out")
    assert receiver.endswith(asked)


def test_the_file_is_written_where_the_job_begins() -> None:
    across = replace(SHAPE, span=SPAN)
    argv = " ".join(NETPIPE.job(TCP, across).argv)
    assert argv.index("-o np.out") < argv.index(" : ")
    assert "-h n1 " in argv


@pytest.mark.parametrize(("address", "words"), [("10.1.0.18", "10.1.0.18"), (None, "n1")])
def test_the_other_node_is_found_by_its_address_if_that_is_known(address: str | None, words: str) -> None:
    across = replace(SHAPE, span=replace(SPAN, addresses=("10.1.0.17", address)))
    assert f"-h {words} " in " ".join(NETPIPE.job(TCP, across).argv)


def test_instances_that_share_a_loopback_have_ports_of_their_own() -> None:
    ports = {NETPIPE.job(TCP, replace(SHAPE, instance=number)).argv.index("-P") for number in (0, 1)}
    assert len(ports) == 1
    (place,) = ports
    assert NETPIPE.job(TCP, replace(SHAPE, instance=1)).argv[place + 1] == "5003"


def test_over_udp_the_same_curves_and_figures_are_measured_up_to_a_whole_datagram() -> None:
    result = samples("udp-two-nodes", UDP)
    latencies, rates = named(result, "latency_s"), named(result, "bandwidth_byte_per_s")
    assert [sample.coordinates[0].value for sample in latencies] == list(UDP.sizes)
    assert [sample.coordinates for sample in rates] == [sample.coordinates for sample in latencies]
    figures = {sample.name: sample.value for sample in result if not sample.coordinates}
    assert set(figures) == {"small_latency_s", "large_bandwidth_byte_per_s", "delivered_share"}
    assert figures["delivered_share"] == 1
    assert 65507 * 0.7 < UDP.sizes[-1] <= 65507
    assert NetpipeOptions(protocol="udp", smallest=65507).sizes == (65507,)


def test_lost_datagrams_are_a_share_of_those_sent_and_a_fact() -> None:
    output = recorded("netpipe", "udp-lossy")
    (share,) = named(NETPIPE.samples(UDP, output), "delivered_share")
    answered = 70 * len(UDP.sizes)
    assert (share.unit, share.direction) == ("1", Direction.MORE)
    assert share.value == answered / (answered + 30)
    assert NETPIPE.facts(UDP, output)["netpipe lost datagrams"] == "30 (1 to 49152 B)"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"largest": 1024}, "31 sizes that are not the 20 asked for"),
        ({"repetitions": 11}, "70 datagrams of 1 bytes were answered instead of 77"),
    ],
)
def test_other_datagrams_than_were_asked_for_are_wrong(options: dict[str, int], words: str) -> None:
    chosen = NetpipeOptions.model_validate({"protocol": "udp", "repetitions": 10, **options})
    with pytest.raises(WrongOutput, match=words):
        NETPIPE.samples(chosen, recorded("netpipe", "udp-two-nodes"))


def test_datagrams_that_were_never_answered_are_wrong_in_the_words_of_the_program() -> None:
    with pytest.raises(WrongOutput, match="printed 0 lines") as caught:
        NETPIPE.samples(UDP, recorded("netpipe", "udp-unanswered"))
    assert "none of 20 datagrams of 2048 bytes in a row was answered" in str(caught.value.excerpt)


@pytest.mark.parametrize("case", ["udp-two-nodes", "udp-lossy"])
@given(share=st.floats(0, 1, exclude_max=True))
def test_every_cut_of_a_line_of_datagrams_is_wrong_output(case: str, share: float) -> None:
    output = recorded("netpipe", case)
    with pytest.raises(WrongOutput):
        NETPIPE.samples(UDP, replace(output, stdout=output.stdout[: int(share * (len(output.stdout) - 1))]))


def test_the_datagrams_server_is_in_the_last_node_and_the_client_is_told_all_sizes() -> None:
    across = replace(SHAPE, span=replace(SPAN, addresses=(None, "198.18.0.11")))
    client, server = " ".join(NETPIPE.job(UDP, across).argv).split(" : ")
    assert " call 198.18.0.11 6200 " in client
    assert client.endswith(
        f"/bounce send {{server}} 5200 500 7 10 {' '.join(str(size) for size in UDP.sizes)}"
    )
    assert server.endswith(" serve 6200 5200 /opt/tare/bin/bounce serve-datagrams 5200")


@pytest.mark.parametrize("processors", [1, 3, 16])
def test_other_than_two_processes_are_refused_with_the_layouts_that_fit(processors: int) -> None:
    with pytest.raises(InputError, match=r"exactly two processes.*has \d+ here.*1c2p1i.*2c1p1i"):
        NETPIPE.job(DEFAULT, replace(SHAPE, processors=processors))


def test_messages_beyond_the_memory_are_refused() -> None:
    with pytest.raises(InputError, match="smaller largest"):
        NETPIPE.job(NetpipeOptions(largest=128 << 20), replace(SHAPE, memory_byte=200 << 20))


@pytest.mark.parametrize(
    "options",
    [
        {"protocol": "udp", "largest": 65508, "smallest": 65508},
        {"protocol": "udp", "largest": 65536},
        {"protocol": "udp", "profile": True},
        {"protocol": "sctp"},
        {"smallest": 0},
        {"smallest": 100, "largest": 99},
        {"largest": (128 << 20) + 1},
        {"perturbation": 4},
        {"repetitions": 9},
    ],
)
def test_an_impossible_option_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        NetpipeOptions.model_validate(options)


def test_more_work_is_expected_to_take_longer() -> None:
    guessed = [
        NETPIPE.expected_s(options, SHAPE) or 0.0
        for options in (
            DEFAULT,
            NetpipeOptions(repetitions=1000),
            NetpipeOptions(repetitions=1000, largest=1 << 24),
        )
    ]
    assert guessed == sorted(guessed)
    assert guessed[0] < guessed[2]
