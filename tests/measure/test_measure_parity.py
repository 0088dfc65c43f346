# SPDX-License-Identifier: Apache-2.0
"""Equal arms: what a command runs under is read in each trial, and a planted inequality makes the trial void."""

import os
import resource
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.environment_example import described
from tests.fake_campaign import (
    Listener,
    command_workload,
    fake_campaign,
    fake_context,
    fake_request,
    fake_workload,
)
from tests.measure.test_measure_trial import a_trial

from tare.environments import PROVIDERS, docker
from tare.environments.fake import Fake
from tare.environments.native import Native
from tare.errors import HostError, NodeError, UnequalArms
from tare.host import cgroups, standing
from tare.host.cgroups.path import path_settings
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.parity import expected_parity, require_one_parent
from tare.measure.trial import run_trial
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.pipeline import run_campaign
from tare.records import Layout, OptionValue, Outcome, Rule, Status

WANTED_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups")
PLANTED = "tare-planted"


class Niced(Fake):
    """What a daemon that was started with nice gives its nodes."""

    def prefix(self, node: Node) -> list[str]:
        return ["nice", "-n", "5"] if node.spec.options.get("slowdown") else []


def test_a_campaign_with_one_niced_arm_has_no_verdict_on_it(
    tmp_path: Path,
    fake_image: Image,  # noqa: ARG001 - the image that fakes are measured with
) -> None:
    request = fake_request(fake_campaign(blocks=6), tmp_path / "result")
    listener = Listener()
    analysis = run_campaign(replace(request, providers={"native": Fake(), "fake": Niced()}), listener)
    assert analysis.verdicts == ()
    void = [outcome for outcome in analysis.outcomes if outcome.trial.environment.name == "slow"]
    assert {(outcome.status, outcome.excluded_by) for outcome in void} == {(Status.INVALID, Rule.UNEQUAL)}
    assert {outcome.samples for outcome in void} == {()}
    natives = [outcome for outcome in analysis.outcomes if outcome.trial.environment.name == "native"]
    assert {outcome.status for outcome in natives} == {Status.OK}
    assert natives[0].parity.host["nice"] == "0"


class PrefixedNative(Native):
    """Native, with something before every command."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def prefix(self, node: Node) -> list[str]:
        return [*super().prefix(node), *self._words]


@pytest.fixture
def real(tmp_path: Path, programs: Path, image: Image, state: Path) -> Iterator[Context]:  # noqa: ARG001 - nodes lie there
    with standing.plain():
        yield replace(
            fake_context(tmp_path, programs),
            image_root=image.root,
            image_digest=image.digest,
            expected=expected_parity("test"),
        )


def run(context: Context, technology: str, provider: Provider, **options: OptionValue) -> Outcome:
    own = replace(context, providers={technology: provider})
    return run_trial(own, a_trial(command_workload("true"), technology, **options))


def void(outcome: Outcome) -> str:
    assert (outcome.status, outcome.excluded_by) == (Status.INVALID, Rule.UNEQUAL)
    assert outcome.samples == ()
    return outcome.reason or ""


@WANTED_ROOT
@pytest.mark.root
class TestPlantedNatively:
    def test_without_anything_planted_the_trial_stands(self, real: Context) -> None:
        outcome = run(real, "native", PrefixedNative())
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert set(outcome.parity.host) >= {"nice", "limit of nofile", "CPU weight", "process limit above"}

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (("nice", "-n", "5"), "nice 5 instead of 0"),
            (("prlimit", "--nofile=99:99"), "limit of nofile 99:99 instead of"),
            (("ionice", "-c", "3"), "I/O class idle instead of none"),
            (("chrt", "--batch", "0"), "scheduler batch instead of other"),
            (("choom", "-n", "500", "--"), "OOM score adjustment 500 instead of 0"),
            (("prlimit", "--memlock=4096:4096"), "limit of memlock 4096:4096 instead of"),
        ],
    )
    def test_another_standing_makes_the_trial_void(
        self, real: Context, words: tuple[str, ...], reason: str
    ) -> None:
        assert reason in void(run(real, "native", PrefixedNative(*words)))

    def test_another_set_of_processors_is_a_failure_with_its_reason(self, real: Context) -> None:
        if len(os.sched_getaffinity(0)) == 1:
            pytest.skip("this host has one processor only")
        outcome = run(replace(real, available_processors=(1,)), "native", MovedNative())
        assert outcome.status is Status.FAILED
        assert "processors (inside) should be (1,) and are (0,)" in (outcome.reason or "")


class MovedNative(Native):
    """Native on another processor than was asked for."""

    def start(self, spec: NodeSpec) -> Node:
        return replace(super().start(replace(spec, processors=(0,))), spec=spec)


def files_of(version: int) -> Mapping[str, tuple[str, str]]:
    """Controller → the file of its weight or limit, and a value that is not the usual one."""
    if version == cgroups.V2:
        return {"cpu": ("cpu.weight", "50"), "io": ("io.bfq.weight", "50"), "pids": ("pids.max", "500")}
    return {
        "cpu": ("cpu.shares", "512"),
        "blkio": ("blkio.bfq.weight", "50"),
        "pids": ("pids.max", "500"),
    }


@contextmanager
def planted_parent(controller: str, file: str, value: str) -> Iterator[None]:
    """A group beside Tare's common one, with one thing set."""
    group = cgroups.named_groups(PLANTED)
    try:
        for directory in group.directories:
            directory.mkdir(exist_ok=True)
        path = cgroups.find_hierarchies().mounts[controller] / PLANTED / file
        if not path.exists():
            pytest.skip(f"this kernel has no {file}")
        path.write_text(value)
        yield
    finally:
        group.remove()


@WANTED_ROOT
@pytest.mark.root
@pytest.mark.usefixtures("docker_daemon")
class TestPlantedInDockersParent:
    @pytest.fixture(autouse=True)
    def _moved(self, monkeypatch: pytest.MonkeyPatch, image: Image) -> None:
        monkeypatch.setattr(docker, "_parent_group", lambda: f"/{PLANTED}")
        PROVIDERS["docker"].prepare(image.root, image.digest)

    @pytest.mark.parametrize("controller", ["cpu", "blkio", "io", "pids"])
    def test_another_weight_or_limit_makes_the_trial_void(self, real: Context, controller: str) -> None:
        version = cgroups.find_hierarchies().version
        if controller not in files_of(version):
            pytest.skip(f"control groups of version {version} have another name for {controller}")
        file, value = files_of(version)[controller]
        with planted_parent(controller, file, value):
            reason = void(run(real, "docker", PROVIDERS["docker"]))
        label = {"cpu": "CPU weight", "pids": "process limit above"}.get(controller, "I/O weight")
        assert f"{label} {value}" in reason

    def test_a_quota_on_the_parent_makes_the_trial_void(self, real: Context) -> None:
        if cgroups.find_hierarchies().version == cgroups.V2:
            pytest.skip("in version 2 the check of the node's own limits sees it first")
        with planted_parent("cpu", "cpu.cfs_quota_us", "90000"):
            reason = void(run(real, "docker", PROVIDERS["docker"]))
        assert "CPU quota above 90000 us in each period instead of none" in reason


@WANTED_ROOT
@pytest.mark.root
@pytest.mark.usefixtures("docker_daemon")
@pytest.mark.parametrize("technology", ["docker", "podman"])
def test_flags_of_ones_own_make_no_trial_void_and_are_shown(
    real: Context, image: Image, technology: str
) -> None:
    provider = PROVIDERS[technology]
    provider.prepare(image.root, image.digest)
    flags = "--cpu-shares 64 --cpus 0.5 --shm-size 512k --cap-add SYS_PTRACE --pids-limit 500"
    outcome = run(real, technology, provider, arguments=flags)
    assert (outcome.status, outcome.reason) == (Status.OK, None)
    assert outcome.facts["CPU quota"] == "0.5 processors"
    assert outcome.facts["size of shm"] == "524288 byte"
    assert outcome.parity.own["CPU weight"].endswith("> 64")
    assert outcome.facts["process limit"] == "500 processes"
    assert "CPU weight" not in outcome.parity.host


class LaterNiced(Fake):
    """A second way in that gives its command another standing than the first, as a race in a tool may."""

    def __init__(self) -> None:
        self._entered = 0

    def prefix(self, node: Node) -> list[str]:  # noqa: ARG002 - the protocol's
        self._entered += 1
        return ["nice", "-n", "5"] if self._entered > 1 else []


def test_the_command_itself_is_looked_at_and_not_only_the_node(
    state: Path,  # noqa: ARG001 - nodes lie there
    tmp_path: Path,
    programs: Path,
) -> None:
    context = replace(
        fake_context(tmp_path, programs), expected={"nice": "0"}, providers={"fake": LaterNiced()}
    )
    two = Layout(nodes=1, processors=2, instances=2)
    outcome = run_trial(context, replace(a_trial(fake_workload()), layout=two))
    assert "nice 5 instead of 0" in void(outcome)


@WANTED_ROOT
@pytest.mark.root
@pytest.mark.usefixtures("docker_daemon")
@pytest.mark.parametrize("technology", ["docker", "podman"])
def test_a_low_soft_limit_of_open_files_makes_no_trial_void(
    tmp_path: Path,
    programs: Path,
    image: Image,
    state: Path,  # noqa: ARG001 - nodes lie there
    technology: str,
) -> None:
    """An engine's exec leaves it to chance whether the command has the soft limit or the hard one."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1] // 2, before[1]))
    try:
        with standing.plain():
            context = replace(
                fake_context(tmp_path, programs),
                image_root=image.root,
                image_digest=image.digest,
                expected=expected_parity("test"),
            )
            PROVIDERS[technology].prepare(image.root, image.digest)
            outcomes = [run(context, technology, PROVIDERS[technology]) for _ in range(6)]
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1] // 2, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert {outcome.reason for outcome in outcomes} == {None}


@WANTED_ROOT
@pytest.mark.root
def test_a_weight_that_changes_while_the_command_runs_makes_the_trial_void(
    real: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest: Callable[..., dict[str, str]] = path_settings
    looks: list[int] = []

    def changing(*arguments: object) -> dict[str, str]:
        looks.append(1)
        read = honest(*arguments)
        return {**read, "CPU weight": "2 > 1024"} if len(looks) > 1 else read

    monkeypatch.setattr("tare.measure.parity.path_settings", changing)
    assert "CPU weight 2 > 1024" in void(run(real, "native", Native()))


@contextmanager
def sleeping(parent: str, name: str) -> Iterator[Node]:
    """A node that is one process, in a group of its own below this parent."""
    group = cgroups.named_groups(f"{parent}/{name}")
    try:
        for directory in group.directories:
            directory.mkdir(parents=True, exist_ok=True)
        place = cgroups.find_hierarchies().mounts["cpu"] / parent / name
        argv = ["sh", "-c", 'echo $$ > "$1"; echo; exec sleep 60', "sh", str(place / "cgroup.procs")]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            yield Node(spec=replace(described(), name=name), init_pid=process.pid)
            process.kill()
    finally:
        cgroups.named_groups(parent).remove()


@WANTED_ROOT
@pytest.mark.root
class TestNodesTogether:
    def test_nodes_below_one_group_are_equal_to_native(self) -> None:
        with sleeping(PLANTED, "tare-1") as first, sleeping(PLANTED, "tare-2") as second:
            require_one_parent([first, second], expected_parity("test"))

    def test_nodes_below_two_groups_weigh_as_two(self) -> None:
        with sleeping(f"{PLANTED}-a", "tare-1") as first, sleeping(f"{PLANTED}-b", "tare-2") as second:
            require_one_parent([first], expected_parity("test"))
            require_one_parent([first, second], {"nice": "0"})
            with pytest.raises(
                UnequalArms, match=rf"lie below \S+{PLANTED}-a and \S+{PLANTED}-b, which have"
            ):
                require_one_parent([first, second], expected_parity("test"))

    @pytest.mark.parametrize(("technology", "nodes"), [("native", 2), ("chroot", 1)])
    def test_native_weighs_as_much_as_two_nodes_and_is_equal_to_each(
        self, real: Context, monkeypatch: pytest.MonkeyPatch, technology: str, nodes: int
    ) -> None:
        read = []

        def reading(
            group: cgroups.Group, host: cgroups.Hierarchies, node: str, weight: int
        ) -> dict[str, str]:
            read.append(path_settings(group, host, node)["CPU weight"])
            return path_settings(group, host, node, weight)

        monkeypatch.setattr("tare.measure.parity.path_settings", reading)
        trial = replace(a_trial(command_workload("true"), technology), layout=Layout.parse("2c1p2i"))
        outcome = run_trial(replace(real, providers={technology: PROVIDERS[technology]}), trial)
        usual = 1024 if cgroups.find_hierarchies().version == cgroups.V1 else 100
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert outcome.parity.host["CPU weight"] == f"{usual} > {usual}"
        assert set(read) == {f"{usual} > {nodes * usual}"}


def test_what_cannot_be_expected_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: str) -> None:
        raise NodeError("no control groups here")

    monkeypatch.setattr(cgroups, "create_own_group", refused)
    assert "CPU weight" not in expected_parity("test")
    assert "nice" in expected_parity("test")


def test_where_native_itself_is_treated_otherwise_weigh_says_so_before_anything_is_measured(
    tmp_path: Path,
    fake_image: Image,  # noqa: ARG001 - the image that fakes are measured with
) -> None:
    class NicedNative(Fake):
        def prefix(self, node: Node) -> list[str]:  # noqa: ARG002 - the protocol's
            return ["nice", "-n", "5"]

    request = fake_request(fake_campaign(), tmp_path / "result", pilot=True)
    with pytest.raises(
        HostError,
        match="nothing can be compared with native as it is here: unequal arms: native has nice 5 instead of 0",
    ):
        run_campaign(replace(request, providers={"native": NicedNative(), "fake": Fake()}), Listener())
