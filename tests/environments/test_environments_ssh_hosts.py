# SPDX-License-Identifier: Apache-2.0
"""Nodes on several hosts, and one MPI job over them, tried for real: both hosts are this one, by two names."""

import os
from pathlib import Path

import pytest
from tests.environments.far_example import PROVIDER, far_spec, inside, running
from tests.environments.loopback_sshd import Sshd

from tare.errors import NodeError
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.trial import run_trial
from tare.node_life import start_node, stop_node
from tare.nodes.provider import NodeNetwork
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

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
    pytest.mark.usefixtures("state"),
]
LOOPBACK = "127.0.0.0/8"


@pytest.fixture
def hosts(sshd: Sshd, far: Path, tmp_path: Path) -> dict[str, OptionValue]:
    """The options of an environment with two hosts, which are one sshd in truth."""
    configuration = tmp_path / "ssh_config"
    configuration.write_text("Host one two\n  HostName 127.0.0.1\n")
    words = [str(configuration) if word == "none" else word for word in sshd.options]
    return {**sshd.reach(far, subnet=LOOPBACK), "host": ["one", "two"], "ssh_options": words}


@pytest.fixture
def context(image: Image, tmp_path: Path) -> Context:
    return Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=online_processors(),
    )


def outcome_of(context: Context, hosts: dict[str, OptionValue], kind: str, **options: OptionValue) -> Outcome:
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="far", technology="ssh", options=hosts),
        replicate=0,
        layout=Layout.parse("2c1p1i"),
        workload=Workload(name="w", kind=kind, options=options),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
    )
    return run_trial(context, trial)


class TestHosts:
    def test_nodes_take_turns_and_each_is_stopped_where_it_was_started(
        self, hosts: dict[str, OptionValue], image: Image, state: Path, far: Path
    ) -> None:
        specs = [far_spec(hosts, image, state, index=index) for index in range(3)]
        with running(*specs) as nodes:
            asked = [next(word for word in PROVIDER.prefix(node) if word in {"one", "two"}) for node in nodes]
            said = [inside(node, "echo", "here").stdout for node in nodes]
        assert asked == ["one", "two", "one"]
        assert said == [b"here\n"] * 3
        assert list((far / "nodes").iterdir()) == []

    def test_every_host_is_tried_beforehand(self, hosts: dict[str, OptionValue]) -> None:
        assert PROVIDER.configured(hosts).probe().usable
        probe = PROVIDER.configured({**hosts, "host": ["one", "nowhere.invalid"]}).probe()
        assert not probe.usable
        assert "nowhere.invalid cannot be reached by ssh" in probe.reason

    def test_a_node_on_its_hosts_network_tells_its_address_in_the_subnet(
        self, hosts: dict[str, OptionValue], image: Image, state: Path
    ) -> None:
        with running(far_spec(hosts, image, state, network=NodeNetwork(kind=NetworkKind.HOST))) as (node,):
            assert node.elsewhere is not None
            assert (node.elsewhere.subnet, node.elsewhere.address) == (LOOPBACK, "127.0.0.1")

    def test_a_host_without_an_address_in_the_subnet_is_an_error(
        self, hosts: dict[str, OptionValue], image: Image, state: Path
    ) -> None:
        wrong = {**hosts, "subnet": "203.0.113.0/24"}
        spec = far_spec(wrong, image, state, network=NodeNetwork(kind=NetworkKind.HOST))
        with pytest.raises(NodeError, match=r"one: \S+ has no address in 203\.0\.113\.0/24"):
            start_node(spec, PROVIDER)
        stop_node(spec, PROVIDER)


class TestJobs:
    def test_the_processes_of_one_job_are_on_both_hosts_and_talk_by_tcp(
        self, hosts: dict[str, OptionValue], context: Context, far: Path
    ) -> None:
        outcome = outcome_of(context, hosts, "command", argv=["/opt/tare/bin/mpiprobe"], mpi=True)
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert outcome.facts["mpi transport"] == "TCP (127.0.0.1)"
        assert outcome.facts["network"] == "its host's, 127.0.0.1"
        assert list((far / "nodes").iterdir()) == []

    def test_netpipe_gives_curves_from_the_file_that_the_first_node_wrote(
        self, hosts: dict[str, OptionValue], context: Context
    ) -> None:
        outcome = outcome_of(context, hosts, "netpipe", largest=65536, repetitions=20)
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert outcome.facts["mpi transport"] == "TCP (127.0.0.1)"
        assert max(each.value for sample in outcome.samples for each in sample.coordinates) >= 49152

    def test_netpipe_finds_the_other_host_by_tcp_without_mpi(
        self, hosts: dict[str, OptionValue], context: Context
    ) -> None:
        outcome = outcome_of(context, hosts, "netpipe", protocol="tcp", largest=65536, repetitions=20)
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert outcome.facts["netpipe protocol"] == "tcp"

    def test_every_process_begins_in_the_instances_folder(
        self, hosts: dict[str, OptionValue], context: Context
    ) -> None:
        outcome = outcome_of(context, hosts, "command", argv=["pwd"], mpi=True)
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert (context.raw_directory / "b000-t" / "i0.stdout").read_text() == "/mnt/tare/i0\n" * 2

    def test_without_a_subnet_a_job_over_hosts_is_an_error_that_says_what_to_give(
        self, hosts: dict[str, OptionValue], context: Context
    ) -> None:
        without = {name: value for name, value in hosts.items() if name != "subnet"}
        outcome = outcome_of(context, without, "command", argv=["true"], mpi=True)
        assert outcome.status is Status.FAILED
        assert outcome.reason is not None
        assert "give subnet, as docs/hosts.md explains" in outcome.reason
