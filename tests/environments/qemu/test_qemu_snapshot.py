# SPDX-License-Identifier: Apache-2.0
"""Guests restored from one boot: alike but for what must be each one's own; refused where that cannot be."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REPOSITORY
from tests.environments.qemu.qemu_guests import guest_spec, inside, told
from tests.environments.qemu.test_qemu_clock import outcome_of
from tests.environments.qemu.test_qemu_command import machine, models, values
from tests.machine import Machine as Host

from tare.environments import qemu as qemu_provider
from tare.environments.qemu import Qemu, boot, snapshot
from tare.environments.qemu.command import QemuMachine, argv
from tare.environments.qemu.devices import CHANNEL, GENERATION
from tare.errors import NodeError
from tare.host import process
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.measure.context import Context
from tare.measure.running import NodeTimes, running_nodes
from tare.nodes.provider import Bind, NodeNetwork, NodeSpec
from tare.records import NetworkKind, OptionValue, Storage

SNAPSHOT: Mapping[str, OptionValue] = {"accelerator": "tcg", "start": "snapshot"}
AGE_S = 1.0
KILLED_AS_QEMU_STARTS = """
import os, signal, sys
from pydantic import TypeAdapter
from tare.environments import PROVIDERS
from tare.nodes.provider import NodeSpec
from tare.host import process
from tare.node_life import start_node
process._read_until = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
spec = TypeAdapter(NodeSpec).validate_json(sys.stdin.read())
start_node(spec, PROVIDERS["qemu"])
"""


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[snapshot.Saved]:
    """The snapshots, each of which is old before any guest is restored from it."""
    all_taken: list[snapshot.Saved] = []
    really = snapshot.take

    def counted(*given: Any) -> snapshot.Saved:
        saved = really(*given)
        all_taken.append(saved)
        time.sleep(AGE_S)
        return saved

    monkeypatch.setattr(snapshot, "take", counted)
    return all_taken


def files_of(state: Path) -> list[Path]:
    return sorted(path for path in state.rglob("*") if path.name != "lock")


@pytest.mark.root
class TestRealGuests:
    def test_one_boot_serves_all_and_each_has_its_own_name_time_numbers_and_disk(
        self, provider: Qemu, image: Image, guest_state: Path, taken: list[snapshot.Saved], tmp_path: Path
    ) -> None:
        """One boot, two guests restored from it, the second one in a trial with all its checks of clocks."""
        (guest_state / "nodes").mkdir(mode=0o700)
        before = files_of(guest_state)
        spec = guest_spec(image, guest_state, SNAPSHOT)
        times = NodeTimes()
        with running_nodes([spec], {"qemu": provider}, times) as (node,):
            assert node.facts[snapshot.FACT] == snapshot.RESTORED
            begun = time.time()
            date = float(told(node, "date", "+%s.%N"))
            assert begun - AGE_S / 2 < date < time.time() + AGE_S / 2, "not the time of the snapshot"
            assert told(node, "hostname") == spec.name
            assert "crng reseeded due to virtual machine fork" in told(node, "dmesg")
            first = told(node, "cat", "/proc/sys/kernel/random/boot_id")
            assert inside(node, "touch", "/root/written", f"{node.work_directory}/written").returncode == 0
            names = sorted(Path(f"/proc/{pid}/comm").read_text().strip() for pid in provider.helpers(node))
            assert names == ["keeper", "qemu-system-x86"]
        assert times.problems == []
        assert files_of(guest_state) == before, "the snapshot has no name that could stay behind"

        look = "hostname; cat /proc/sys/kernel/random/boot_id; ls /root /mnt/tare; sleep 2"
        context = Context(
            image_root=image.root,
            image_digest=image.digest,
            raw_directory=tmp_path / "raw",
            available_processors=tuple(sorted(os.sched_getaffinity(0))),
            providers={"qemu": provider},
        )
        outcome = outcome_of(context, "sh", "-c", look, start="snapshot")
        (printed,) = (path.read_text() for path in (tmp_path / "raw").rglob("*stdout*"))
        name, drawn, *rest = printed.split()
        assert (outcome.clock_fault, outcome.facts["clock steps"]) == (None, "0")
        assert outcome.facts[snapshot.FACT] == snapshot.RESTORED
        assert name != spec.name
        assert drawn != first
        assert "written" not in rest
        assert len(taken) == 1
        assert files_of(guest_state) == before

    def test_of_a_runner_that_is_killed_as_it_boots_the_first_one_nothing_stays(
        self,
        provider: Qemu,  # noqa: ARG002 - it is ready
        image: Image,
        guest_state: Path,
    ) -> None:
        spec = guest_spec(image, guest_state, SNAPSHOT)
        done = subprocess.run(
            [sys.executable, "-c", KILLED_AS_QEMU_STARTS],
            input=json.dumps(asdict(spec), default=str),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=REPOSITORY,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert spec.directory.exists()
        assert list(remove_leftovers().removed) == [spec.name]
        assert not spec.directory.exists()
        deadline = time.monotonic() + 10
        while (
            left := [thing for thing in Host.look().things if spec.name in thing]
        ) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert left == []


class TestWords:
    def test_by_default_a_guest_boots_and_has_no_device_for_it(self) -> None:
        booted = machine()
        assert GENERATION not in models(argv(booted))
        assert GENERATION not in booted.devices.modules(booted.needs)

    @pytest.mark.parametrize("devices", ["paravirtual", "emulated"])
    def test_the_first_and_the_restored_machine_differ_by_the_ends_of_the_channel_alone(
        self, devices: str
    ) -> None:
        """Else the saved state would be another machine's."""
        made = machine({**SNAPSHOT, "devices": devices})
        first, restored = (
            snapshot.first_argv(made),
            snapshot.restored_argv(made, snapshot.Saved(descriptor=9)),
        )
        assert models(first)[-1] == GENERATION
        assert GENERATION in made.devices.modules(made.needs)
        assert values(restored, "-incoming") == [f"exec:cat /proc/{os.getpid()}/fd/9"]
        assert restored[: len(argv(made))] == argv(made)
        changed = [pair for pair in zip(first, restored, strict=False) if pair[0] != pair[1]][:-2]
        assert changed == [("file,id=channel,path=/dev/fd/1", CHANNEL)]

    def test_guests_of_another_name_are_alike_and_of_another_size_are_not(
        self, image_less_spec: NodeSpec
    ) -> None:
        spec, made = image_less_spec, machine(SNAPSHOT)
        known = snapshot.likeness(spec, made)
        assert snapshot.likeness(replace(spec, name="tare-2"), replace(made, name="tare-2")) == known
        others: list[tuple[NodeSpec, QemuMachine]] = [
            (spec, replace(made, memory_byte=made.memory_byte * 2)),
            (spec, replace(made, processors=1)),
            (spec, replace(made, kernel=Path("/kernels/other"))),
            (replace(spec, shm_byte=spec.shm_byte * 2), made),
            (replace(spec, image_digest="sha256:1"), made),
        ]
        assert known not in {snapshot.likeness(*other) for other in others}


@pytest.fixture
def image_less_spec(tmp_path: Path) -> NodeSpec:
    return NodeSpec(
        name="tare-1",
        technology="qemu",
        options=SNAPSHOT,
        directory=tmp_path / "tare-1",
        image_root=tmp_path,
        image_digest="sha256:0",
        processors=(0,),
        memory_byte=1 << 28,
        shm_byte=1 << 24,
        cpu_quota=None,
    )


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"storage": Storage.DISK}, "choose storage = tmpfs, or start = boot"),
            ({"binds": (Bind(path=Path("/data")),)}, "leave binds out, or start = boot"),
            ({"network": NodeNetwork(kind=NetworkKind.VETH)}, "choose network = none, or start = boot"),
        ],
    )
    def test_what_cannot_be_as_it_was_is_refused_before_anything_starts(
        self, changes: dict[str, Any], words: str, image_less_spec: NodeSpec
    ) -> None:
        with pytest.raises(NodeError, match=words):
            boot.plan(replace(image_less_spec, **changes))

    def test_instances_over_several_nodes_are_refused_in_the_plan(self) -> None:
        assert list(Qemu().check_spanning(SNAPSHOT)) == ["start"]
        assert Qemu().check_spanning({"start": "boot"}) == Qemu().check_spanning({}) == {}


def test_only_the_latest_snapshot_is_kept(
    image_less_spec: NodeSpec, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.mkdir()
    descriptors: list[int] = []

    def take(*_: object) -> snapshot.Saved:
        assert not any(map(is_open, descriptors)), "before the next one is written"
        saved = snapshot._nameless()
        descriptors.append(saved.descriptor)
        return saved

    monkeypatch.setattr(snapshot, "take", take)
    monkeypatch.setattr(qemu_provider, "_in_group", lambda *_: nullcontext([]))
    provider = Qemu()
    for memory_byte in (1 << 28, 1 << 28, 1 << 29):
        made = replace(machine(SNAPSHOT), memory_byte=memory_byte)
        saved = provider._saved_state(image_less_spec, made)
        assert saved is not None
        assert is_open(saved.descriptor)
        del saved
    assert len(descriptors) == 2


def is_open(descriptor: int) -> bool:
    return Path(f"/proc/self/fd/{descriptor}").exists()


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Renews a guest that draws these random numbers, and then as many of a stream as are asked for."""
    monkeypatch.setattr(snapshot, "_RESEED_STEP_S", 0.0)

    def renew(saved: snapshot.Saved, *first: str, stream: str) -> None:
        numbers = chain(first, (f"{stream}{place}" for place in count(len(first))))

        def draw(argv: list[str], **_: Any) -> process.Completed:
            assert argv[argv.index(snapshot._NUMBER) - 1] == "tare-1"
            drawn = islice(numbers, argv.count(snapshot._NUMBER))
            return process.Completed(code=0, stdout="".join(f"{text}\n" for text in drawn), stderr="")

        monkeypatch.setattr(process, "run_checked", draw)
        snapshot.renew([], "tare-1", saved)

    return renew


class TestRandomNumbers:
    def test_a_guest_that_is_late_to_draw_its_own_is_waited_for(self, restored: Callable[..., None]) -> None:
        saved = snapshot.Saved(descriptor=0)
        restored(saved, stream="a")
        restored(saved, "a0", "a1", "a2", stream="b")
        assert saved.drawn > {"a0", "a1", "b3"}

    def test_one_that_goes_on_with_the_saved_stream_is_no_guest_to_measure(
        self, restored: Callable[..., None]
    ) -> None:
        saved = snapshot.Saved(descriptor=0)
        restored(saved, stream="a")
        for _ in range(2):
            with pytest.raises(NodeError, match="does not heed vmgenid; choose start = boot"):
                restored(saved, stream="a")


class Monitor:
    """Of a machine whose orders take a while, each its own."""

    def __init__(self, clock: "Clock", *delays_s: float) -> None:
        self.clock, self.delays_s, self.asked = clock, list(delays_s), []

    asked: list[str]

    def ask(self, order: str) -> None:
        self.asked.append(order)
        self.clock.now_s += self.delays_s.pop(0)


class Clock:
    now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, duration_s: float) -> None:
        self.now_s += duration_s


def test_a_machine_that_stops_too_late_each_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(snapshot, "time", clock)
    monitor = Monitor(clock, *[0.3, 0.0] * 50)
    with pytest.raises(NodeError, match="stopped the guest too late 20 times"):
        snapshot._stop(monitor, clock.now_s)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("delays_s", "asked"),
    [((0.01,), ["stop"]), ((0.3, 0.0, 0.01), ["stop", "cont", "stop"])],
    ids=["in time", "too late"],
)
def test_the_first_machine_stops_shortly_before_a_hello(
    delays_s: tuple[float, ...], asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a restored guest says it at once, and not a second later."""
    clock = Clock()
    monkeypatch.setattr(snapshot, "time", clock)
    monitor = Monitor(clock, *delays_s)
    snapshot._stop(monitor, clock.now_s)  # type: ignore[arg-type]
    assert monitor.asked == asked
    assert 0.9 <= (clock.now_s - 100.0) % 1.0 < 1.0
