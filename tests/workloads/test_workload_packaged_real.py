# SPDX-License-Identifier: Apache-2.0
"""fio, iperf3, sockperf and bounce as the image has them, run for real."""

import os
from pathlib import Path

import pytest
from tests.machine import Machine

from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.trial import run_trial
from tare.records import Environment, Layout, Limits, OptionValue, Outcome, Status, Trial, Workload
from tare.units import MEBIBYTE

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
    pytest.mark.usefixtures("state"),
]


@pytest.fixture
def context(image: Image, tmp_path: Path) -> Context:
    return Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=online_processors(),
    )


def samples_of(context: Context, kind: str, program: str, layout: str, **options: OptionValue) -> set[str]:
    """The names of the samples of a run that did all of its work."""
    needed = (program, *(("opt/tare/bin/meet",) if kind != "files" else ()))
    if missing := [path for path in needed if not (context.image_root / path).exists()]:
        pytest.skip(f"the image has no {missing[0]}: make setup")
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="e", technology="chroot"),
        replicate=0,
        layout=Layout.parse(layout),
        workload=Workload(name="w", kind=kind, options=options),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=64 * MEBIBYTE, time_s=60.0),
    )
    outcome: Outcome = run_trial(context, trial)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    return {sample.name for sample in outcome.samples}


def test_two_instances_measure_their_own_files_in_one_node(context: Context, machine: Machine) -> None:
    names = samples_of(
        *(context, "files", "usr/bin/fio", "1c2p2i"),
        sizes=["64 KiB"],
        records=["64 KiB"],
        operations=["random_write", "fsync", "stat"],
    )
    assert {"random_write_byte_per_s", "fsync_p50_s", "stat_per_s"} <= names
    assert "write_byte_per_s" not in names
    assert machine.things


def test_datagrams_are_measured_between_two_nodes(context: Context, machine: Machine) -> None:
    names = samples_of(
        *(context, "iperf3", "usr/bin/iperf3", "2c1p1i"), protocol="udp", amount="1 MiB", rate=100e6
    )
    assert {"throughput_byte_per_s", "delivered_share"} <= names
    assert machine.things


def test_new_connections_are_counted_between_two_nodes(context: Context, machine: Machine) -> None:
    names = samples_of(context, "connections", "opt/tare/bin/bounce", "2c1p1i", connections=200)
    assert {"connections_per_s", "connection_p50_s", "connection_p90_s"} <= names
    assert machine.things


def test_two_pairs_in_one_node_do_not_meet(context: Context, machine: Machine) -> None:
    names = samples_of(
        context, "sockperf", "usr/bin/sockperf", "1c4p2i", protocol="tcp", messages=200, rate=1000
    )
    assert {"round_trip_p50_s", "round_trip_p90_s"} <= names
    assert machine.things
