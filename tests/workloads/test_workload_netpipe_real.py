# SPDX-License-Identifier: Apache-2.0
"""NetPIPE's own programs, run for real in one node and in two."""

import os
import socket
from pathlib import Path

import pytest
from tests.machine import Machine

from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.trial import run_trial
from tare.records import (
    Environment,
    Layout,
    Limits,
    NetworkKind,
    OptionValue,
    Outcome,
    Status,
    Trial,
    Workload,
)
from tare.units import MEBIBYTE
from tare.workloads.netpipe import message_sizes

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
    pytest.mark.usefixtures("state"),
]

NEEDED = {
    "mpi": ("usr/bin/NPopenmpi",),
    "tcp": ("usr/bin/NPtcp", "etc/protocols", "opt/tare/bin/again"),
}
"""What of the image each protocol needs."""
PORT = 5002


@pytest.fixture
def context(image: Image, tmp_path: Path) -> Context:
    return Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=online_processors(),
    )


def outcome_of(
    context: Context,
    protocol: str,
    layout: str = "1c2p1i",
    *,
    network: NetworkKind | None = None,
    time_s: float = 60.0,
    **options: OptionValue,
) -> Outcome:
    if missing := [path for path in NEEDED[protocol] if not (context.image_root / path).exists()]:
        pytest.skip(f"the image has no {missing[0]}: make setup")
    chosen = {"protocol": protocol, "largest": 1024, "repetitions": 10, **options}
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="e", technology="chroot", network=network),
        replicate=0,
        layout=Layout.parse(layout),
        workload=Workload(name="w", kind="netpipe", options=chosen),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=64 * MEBIBYTE, time_s=time_s),
    )
    return run_trial(context, trial)


def check_whole(outcome: Outcome) -> None:
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    latencies = [sample for sample in outcome.samples if sample.name == "latency_s"]
    assert [sample.coordinates[0].value for sample in latencies] == list(
        map(float, message_sizes(1, 1024, 0))
    )


@pytest.mark.parametrize("protocol", NEEDED)
def test_messages_are_measured_within_a_node(context: Context, protocol: str, machine: Machine) -> None:
    check_whole(outcome_of(context, protocol))
    assert machine.things


@pytest.mark.parametrize("protocol", NEEDED)
def test_messages_are_measured_between_two_nodes(context: Context, protocol: str, machine: Machine) -> None:
    check_whole(outcome_of(context, protocol, "2c1p1i"))
    assert machine.things


@pytest.mark.parametrize("protocol", NEEDED)
def test_two_pairs_in_one_node_do_not_meet(context: Context, protocol: str) -> None:
    outcome = outcome_of(context, protocol, "1c4p2i")
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert {sample.instance for sample in outcome.samples if sample.name == "small_latency_s"} == {0, 1}


@pytest.mark.parametrize("protocol", NEEDED)
def test_the_time_limit_ends_both_processes(context: Context, protocol: str, machine: Machine) -> None:
    outcome = outcome_of(context, protocol, time_s=2.0, repetitions=1_000_000)
    assert outcome.status is Status.FAILED
    assert "time limit" in str(outcome.reason)
    assert machine.things


def test_a_receiver_that_cannot_listen_ends_the_transmitter_too(context: Context, machine: Machine) -> None:
    with socket.create_server(("0.0.0.0", PORT)):  # noqa: S104 - loopback alone would leave the port free
        outcome = outcome_of(context, "tcp", network=NetworkKind.HOST)
    assert outcome.status is Status.FAILED
    assert "mpirun ended with exit code" in str(outcome.reason)
    assert machine.things
