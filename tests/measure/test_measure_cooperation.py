# SPDX-License-Identifier: Apache-2.0
"""One MPI job over several nodes, for real: who starts it, what carries it, and what is said when it cannot be."""

import os
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.environment_example import inspected
from tests.machine import Machine

from tare import node_life
from tare.environments import PROVIDERS
from tare.environments.native import Chroot
from tare.errors import NodeError
from tare.host import process
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure import inspection, instances, seats
from tare.measure.context import MINIMAL_VARIABLES, Context
from tare.measure.placement import place
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.trial import run_trial
from tare.nodes.provider import Bind, Node, NodeSpec, Provider
from tare.records import Bounds, Environment, Layout, Limits, NetworkKind, Outcome, Status, Trial, Workload
from tare.units import MEBIBYTE
from tare.workloads import mpi_verbs

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
    pytest.mark.usefixtures("state"),
]


class WithoutDaemon(Chroot):
    """In its second node everything runs but MPI's daemon."""

    def prefix(self, node: Node) -> list[str]:
        script = 'case "$*" in *orted*) echo no daemon here >&2; exit 1;; esac; exec "$@"'
        guard = ["sh", "-c", script, "sh"] if is_second(node.spec) else []
        return [*guard, *super().prefix(node)]


class Unplugged(Chroot):
    """Its second node's link is down."""

    def start(self, spec: NodeSpec) -> Node:
        node = super().start(spec)
        if is_second(spec):
            process.run_checked(
                ["nsenter", f"--net={spec.network.namespace}", "ip", "link", "set", "eth0", "down"]
            )
        return node


def is_second(spec: NodeSpec) -> bool:
    return spec.name.endswith("-1")


class Young(Chroot):
    """Its nodes keep a clock of their own that has just begun, as gVisor's do (time_namespaces(7))."""

    def prefix(self, node: Node) -> list[str]:
        time.sleep(
            -time.monotonic() % 1
        )  # unshare(1) takes whole seconds: a node's first is as long as it can be
        begun_s = int(time.monotonic())
        return [*super().prefix(node), "unshare", "--time", f"--monotonic={-begun_s}", "--fork", "--"]


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
    *argv: str,
    layout: str = "2c1p1i",
    provider: Provider | None = None,
    network: NetworkKind | None = None,
) -> Outcome:
    providers: Mapping[str, Provider] = PROVIDERS if provider is None else {**PROVIDERS, "other": provider}
    trial = a_trial(layout, network, *argv, technology="chroot" if provider is None else "other")
    return run_trial(replace(context, providers=providers), trial)


def a_trial(layout: str, network: NetworkKind | None, *argv: str, technology: str = "chroot") -> Trial:
    return Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="e", technology=technology, network=network),
        replicate=0,
        layout=Layout.parse(layout),
        workload=Workload(name="w", kind="command", options={"argv": list(argv), "mpi": True}),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=30.0),
    )


def printed(context: Context, instance: int = 0) -> list[str]:
    return sorted((context.raw_directory / "b000-t" / f"i{instance}.stdout").read_text().split())


WHERE = ("sh", "-c", "grep -o 'tare-[0-9a-f]*-[0-9]*' /proc/self/cgroup | head -1")


def test_the_processes_of_one_instance_run_in_all_its_nodes(context: Context, machine: Machine) -> None:
    outcome = outcome_of(context, *WHERE, layout="4c1p1i")
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert [name.rpartition("-")[2] for name in printed(context)] == ["0", "1", "2", "3"]
    assert machine.things


def test_each_of_two_instances_has_nodes_of_its_own(context: Context) -> None:
    outcome = outcome_of(context, *WHERE, layout="4c1p2i")
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    numbers = [[name.rpartition("-")[2] for name in printed(context, instance)] for instance in (0, 1)]
    assert numbers == [["0", "1"], ["2", "3"]]
    assert outcome.barrier_skew_s is not None


def test_the_processes_of_an_instance_are_held_like_any_command_and_their_nodes_too(
    context: Context,
) -> None:
    script = "ulimit -n; grep -c 'core file size  *1  *1 ' /proc/self/limits; cat /proc/self/cgroup"
    trial = a_trial("2c1p1i", None, "sh", "-c", script)
    bounds = Bounds(processes=123, open_files=777, core_byte=0)
    outcome = run_trial(context, replace(trial, limits=replace(trial.limits, bounds=bounds)))
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert [printed(context).count(word) for word in ("777", "1")] == [2, 2]
    assert outcome.facts["process limit"] == "123 processes"


def test_the_images_own_mpirun_starts_its_processes_each_on_its_processor(context: Context) -> None:
    show = "echo size=$OMPI_COMM_WORLD_SIZE; grep -o 'Cpus_allowed_list:.*' /proc/self/status"
    trial = a_trial("1c2p1i", None, "sh", "-c", show)
    own = replace(trial.workload, options={**trial.workload.options, "launcher": "image"})
    outcome = run_trial(context, replace(trial, workload=own))
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    first, second = map(str, context.available_processors[:2])
    assert printed(context) == sorted(["size=2", "size=2", *["Cpus_allowed_list:"] * 2, first, second])


@pytest.mark.parametrize(
    ("network", "carried_by"),
    [
        (NetworkKind.VETH, "TCP (198.18.0.10, 198.18.0.11)"),
        (NetworkKind.MACVLAN, "TCP (198.18.0.10, 198.18.0.11)"),
        (NetworkKind.HOST, "TCP (127.0.0.1)"),
    ],
)
def test_the_transport_that_carried_the_messages_is_recorded(
    context: Context, network: NetworkKind, carried_by: str
) -> None:
    outcome = outcome_of(context, "/opt/tare/bin/mpiprobe", network=network)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert outcome.facts["mpi transport"] == carried_by


def test_shared_memory_is_used_inside_a_node_and_tcp_between_nodes(context: Context) -> None:
    outcome = outcome_of(context, "/opt/tare/bin/mpiprobe", layout="2c2p1i")
    assert outcome.facts["mpi transport"] == "TCP (198.18.0.10, 198.18.0.11); shared memory"


def test_a_job_by_verbs_is_started_across_nodes_and_says_what_carried_it(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UCX's own TCP in the place of an adapter, which this host does not have."""
    settings = {**mpi_verbs.variables("natural"), "UCX_TLS": "self,sm,tcp"}
    monkeypatch.setattr(mpi_verbs, "variables", lambda _: settings)
    monkeypatch.setattr(seats, "are_fabric", lambda _: True)
    outcome = outcome_of(context, "/opt/tare/bin/mpiprobe")
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert outcome.facts["mpi transport"] == "verbs (tcp on eth0)"


def test_a_job_whose_nodes_have_no_verbs_fails_in_words_and_takes_no_other_way(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seats, "are_fabric", lambda _: True)
    outcome = outcome_of(context, "/opt/tare/bin/mpiprobe")
    assert outcome.status is Status.FAILED
    assert "MPI does not start here: UCX reaches another node by no verbs" in (outcome.reason or "")


def test_a_launch_that_cannot_go_on_is_ended_at_once_and_explained(context: Context) -> None:
    outcome = outcome_of(context, "true", provider=WithoutDaemon())
    assert outcome.status is Status.FAILED
    assert outcome.reason is not None
    assert "MPI's daemon in" in outcome.reason
    assert outcome.reason.endswith("ended with 1, so the launch cannot go on: no daemon here")


def test_a_launch_that_hangs_is_ended_and_names_the_nodes(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instances, "_ASIDE_LIMIT_S", 3.0)
    outcome = outcome_of(context, "true", provider=Unplugged())
    assert outcome.status is Status.FAILED
    assert outcome.reason is not None
    assert re.search(
        r"MPI processes in tare-\w+-0, tare-\w+-1 did not find each other|MPI's daemon in tare-\w+-1",
        outcome.reason,
    )


def test_an_image_without_open_mpi_is_told_as_the_cause(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MINIMAL_VARIABLES, "PATH", "/nowhere")
    reason = outcome_of(context, "true", layout="1c1p1i").reason
    assert reason is not None
    assert reason.endswith("cannot execute 'mpirun': No such file or directory; has the image Open MPI?")


def test_a_failing_process_in_another_node_fails_the_instance_with_its_words(context: Context) -> None:
    script = 'test "$OMPI_COMM_WORLD_RANK" = 0 || { echo the second one is ill >&2; exit 9; }'
    outcome = outcome_of(context, "sh", "-c", script)
    assert outcome.status is Status.FAILED
    assert outcome.excerpt is not None
    assert "the second one is ill" in outcome.excerpt
    assert "mca: b" not in outcome.excerpt


def test_the_job_may_begin_in_a_folder_that_a_bind_shows(context: Context, tmp_path: Path) -> None:
    trial = a_trial("2c1p1i", None, "pwd")
    options = {**trial.workload.options, "directory": str(tmp_path)}
    seen = replace(context, binds=(Bind(path=tmp_path, writable=False),))
    outcome = run_trial(seen, replace(trial, workload=replace(trial.workload, options=options)))
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert printed(context) == [str(tmp_path)] * 2


def test_what_is_left_of_a_launcher_is_told(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = node_life.stop_node

    def stop_badly(spec: NodeSpec, provider: Provider) -> None:
        stop(spec, provider)
        if spec.shared_work is not None:
            raise NodeError("it clings")

    monkeypatch.setattr("tare.measure.running.stop_node", stop_badly)
    outcome = outcome_of(context, "true")
    assert outcome.status is Status.OK
    assert outcome.facts["not stopped cleanly"].endswith("did not stop cleanly: it clings")


def test_who_prints_too_much_is_told_so(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the limit of a file, before the memory of the launcher, which is less than the nodes', is full."""
    monkeypatch.setattr(
        seats, "_LAUNCHER_MEMORY_BYTE", 128 * MEBIBYTE
    )  # twice what mpirun needs on a quiet host
    monkeypatch.setattr(seats.Seat, "file_limit_byte", 32 * MEBIBYTE)
    outcome = outcome_of(context, "head", "-c", "100000000", "/dev/zero")
    assert outcome.status is Status.FAILED
    assert outcome.reason is not None
    assert ": a file, or what it prints, may have 32 MiB at most; raise output" in outcome.reason


def test_a_launcher_without_memory_is_told_as_the_cause(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seats, "_LAUNCHER_MEMORY_BYTE", 64 * MEBIBYTE)
    monkeypatch.setattr(seats.Seat, "file_limit_byte", 1024 * MEBIBYTE)
    outcome = outcome_of(context, "head", "-c", "100000000", "/dev/zero")
    assert outcome.status is Status.FAILED
    assert outcome.reason is not None
    assert outcome.reason.startswith("mpirun ran out of the memory that it has beside the nodes")


def test_a_node_is_given_time_until_its_own_clock_is_old_enough(context: Context) -> None:
    provider, waits = Young(), list[float]()
    (spec,) = context.node_specs(
        a_trial("1c1p1i", NetworkKind.NONE), place(Layout.parse("1c1p1i"), 64 * MEBIBYTE, (0,))
    )
    with running_nodes([spec], {"chroot": provider}, NodeTimes()) as (node,):
        inspected(provider, node, waits.append)
        inspected(PROVIDERS["chroot"], node, waits.append)
    (wait_s,) = waits
    assert 0.5 < wait_s <= 2


def test_an_mpi_clock_that_stands_still_makes_the_outcome_invalid(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What gVisor does in its first second, by the same cause: a clock whose seconds are still 0."""
    monkeypatch.setattr(inspection, "LEAST_CLOCK_NS", 0)
    for _ in range(5):  # on a busy host MPI may need more than the clock's first second to begin
        outcome = outcome_of(context, "true", layout="1c1p1i", provider=Young())
        if outcome.status is Status.INVALID:
            break
    assert outcome.status is Status.INVALID
    assert outcome.reason is not None
    assert outcome.reason.startswith(
        "MPI's clock cannot be trusted here: mpiprobe: MPI_Wtime of process 0 counted 0.0"
    )
