# SPDX-License-Identifier: Apache-2.0
"""``tare doctor`` with providers that work, do not, throw and hang."""

import fcntl
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tare import network
from tare.commands import try_nodes
from tare.commands.doctor import probe_all, run_doctor
from tare.environments import PROVIDERS
from tare.environments.fake import Fake
from tare.environments.native import Chroot
from tare.errors import ImageError, NodeError
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.network.reach import NetworkFinding
from tare.nodes.provider import BETWEEN_HOSTS, Node, NodeSpec, Probe, Provider
from tare.records import NetworkKind

pytestmark = pytest.mark.usefixtures("state")

USABLE = Probe(usable=True, version="1.2")
MISSING = Probe(usable=False, reason="the docker command is missing", remedy="apt-get install docker.io")


@dataclass
class Stub(Provider):
    """A provider whose probe is planted; it cannot start anything."""

    technology: str
    answer: Probe | Exception = USABLE
    wait: threading.Event | None = None
    option_names: Mapping[str, str] = field(default_factory=dict)
    networks: frozenset[NetworkKind] = frozenset(NetworkKind)

    def probe(self) -> Probe:
        if self.wait is not None:
            self.wait.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def start(self, spec: NodeSpec) -> Node:
        raise NotImplementedError

    def prefix(self, node: Node) -> list[str]:
        raise NotImplementedError

    def stop(self, spec: NodeSpec) -> None:
        raise NotImplementedError


@pytest.fixture
def hanging() -> Iterator[Stub]:
    released = threading.Event()
    yield Stub("lxc", wait=released)
    released.set()


def providers(*stubs: Stub) -> dict[str, Provider]:
    return {stub.technology: stub for stub in stubs}


def test_a_usable_native_is_exit_0_and_a_missing_docker_is_told_with_its_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_doctor(False, providers=providers(Stub("native"), Stub("docker", MISSING))) == 0
    printed = capsys.readouterr().out
    assert "usable (1.2)" in printed
    assert "not usable: the docker command is missing" in printed
    assert "→ apt-get install docker.io" in printed


def test_on_a_narrow_terminal_reasons_are_broken_between_words_and_remedies_stay_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "the daemon does not answer, and nobody knows whether it ever will again"
    probe = Probe(
        usable=False, reason=said, remedy="apt-get install docker.io and docker-cli and the rest of it"
    )
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    run_doctor(as_json=False, providers=providers(Stub("docker", probe)))
    lines = capsys.readouterr().out.partition("\nHost\n")[0].splitlines()
    assert max(len(line) for line in lines if "→" not in line) <= 60
    assert any(line.endswith(f"→ {probe.remedy}") for line in lines)
    assert f"not usable: {said}" in " ".join(" ".join(lines).split())


def test_an_unusable_native_is_exit_3() -> None:
    assert run_doctor(False, providers=providers(Stub("native", MISSING), Stub("docker"))) == 3


def test_a_probe_that_throws_is_not_usable_and_shows_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    probes = providers(
        Stub("native"), Stub("docker", ZeroDivisionError("odd")), Stub("lxc", NodeError("no lxc"))
    )
    assert run_doctor(False, providers=probes) == 0
    captured = capsys.readouterr()
    assert "its probe failed: odd" in captured.out
    assert "its probe failed: no lxc" in captured.out
    assert "Traceback" not in captured.out + captured.err


def test_what_a_tool_said_forges_no_line_and_fills_no_screen(capsys: pytest.CaptureFixture[str]) -> None:
    said = "no daemon\n\x1b[2K  native  usable\n" + "x" * 100_000
    run_doctor(
        as_json=False, providers=providers(Stub("docker", Probe(usable=False, reason=said, remedy=said)))
    )
    lines = capsys.readouterr().out.splitlines()
    assert r"not usable: no daemon \x1b[2K native usable xxx" in lines[1]
    assert max(map(len, lines)) < 1000
    assert not [line for line in lines if line.startswith("  native")]


def test_a_probe_that_hangs_is_given_up_at_the_limit(hanging: Stub) -> None:
    probes = probe_all(providers(Stub("native"), hanging), limit_s=0.2)
    assert probes["native"].usable
    assert not probes["lxc"].usable
    assert "within 0.2 s" in probes["lxc"].reason


def test_json_holds_environments_host_and_threats(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_doctor(True, providers=providers(Stub("native"), Stub("docker", MISSING))) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert [environment["technology"] for environment in document["environments"]] == ["native", "docker"]
    assert document["environments"][1]["remedy"] == "apt-get install docker.io"
    assert document["environments"][0]["tried"] is None
    assert document["environments"][0]["networks"] is None
    assert document["host"]["kernel"]
    assert {"GPUs", "fabrics", "energy", "MPI"} <= set(document["host"])
    assert all(set(threat) == {"subject", "remark", "remedy"} for threat in document["threats"])


def test_a_missing_image_is_a_threat_with_the_command_that_builds_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_doctor(True, providers=providers(Stub("native")))
    threats = {threat["subject"]: threat for threat in json.loads(capsys.readouterr().out)["threats"]}
    assert threats["image"]["remedy"] == "tare image build"


def test_only_usable_environments_are_tried_and_a_node_that_fails_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def try_node(provider: Provider) -> Probe:
        if provider.technology == "lxc":
            raise NodeError("no network namespace")
        return Probe(usable=True, version="up in 5 ms")

    stubs = providers(Stub("native"), Stub("docker", MISSING), Stub("lxc"))
    assert run_doctor(False, True, providers=stubs, try_node=try_node) == 0
    captured = capsys.readouterr()
    assert "a node of it worked (up in 5 ms)" in captured.out
    assert "its node failed: no network namespace" in captured.out
    assert "trying docker" not in captured.err


def test_a_native_whose_node_fails_is_exit_3() -> None:
    stubs = providers(Stub("native"))
    assert run_doctor(False, True, providers=stubs, try_node=lambda _: MISSING) == 3


def test_every_known_environment_is_listed_within_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    run_doctor(True)
    document = json.loads(capsys.readouterr().out)["environments"]
    assert [entry["technology"] for entry in document] == list(PROVIDERS)
    assert all(entry["usable"] or (entry["reason"] and entry["remedy"]) for entry in document)


@pytest.mark.usefixtures("fake_image")
def test_trying_runs_a_real_trial_in_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_doctor(True, True, providers={"fake": Fake()}) == 0
    (document,) = json.loads(capsys.readouterr().out)["environments"]
    assert document["tried"]["usable"]
    assert document["tried"]["version"].startswith("up in ")


def test_trying_without_an_image_says_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_doctor(False, True, providers=providers(Stub("native"))) == 3
    assert "no node can be tried" in (printed := capsys.readouterr().out)
    assert "tare image build" in printed


def try_network(provider: Provider, kind: NetworkKind) -> NetworkFinding:
    """In lxc macvlan is refused and host throws; nobody may ping over veth."""
    if provider.technology == "lxc" and kind is NetworkKind.MACVLAN:
        return NetworkFinding(kind=kind, usable=False, reason="no macvlan here", remedy="modprobe macvlan")
    if provider.technology == "lxc" and kind is NetworkKind.HOST:
        raise NodeError("no answer")
    pinged = kind is not NetworkKind.VETH
    return NetworkFinding(
        kind=kind,
        usable=True,
        network=f"{kind}, 198.18.0.11/16",
        round_trip_s=0.000052 if pinged else None,
        transferred_byte=8 << 20,
        transfer_s=0.0042,
        remarks=() if pinged else ("the node may not ping",),
    )


class TestNetworks:
    def run(self, as_json: bool, *names: str) -> int:
        stubs = providers(Stub("docker", MISSING), *map(Stub, names))
        return run_doctor(as_json, False, True, providers=stubs, try_network=try_network)

    def test_what_works_is_told_with_its_figures_and_what_not_with_the_way_out(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.run(False, "native", "lxc") == 0
        printed = capsys.readouterr().out
        assert "network default, 198.18.0.11/16 worked: round trip 0.052 ms, 8 MiB in 4.2 ms" in printed
        assert "network veth, 198.18.0.11/16 worked: 8 MiB in 4.2 ms, the node may not ping" in printed
        assert "network macvlan not usable: no macvlan here" in printed
        assert "→ modprobe macvlan" in printed
        assert "network host not usable: its nodes failed: no answer" in printed

    def test_every_kind_that_a_usable_environment_has_is_tried(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.run(False, "chroot")
        tried = [line for line in capsys.readouterr().err.splitlines() if line.startswith("trying")]
        assert tried == [
            f"trying chroot's network {kind} ..." for kind in NetworkKind if kind not in BETWEEN_HOSTS
        ]

    def test_json_has_the_same_and_null_where_nothing_was_tried(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.run(True, "native", "lxc")
        document = {
            environment["technology"]: environment
            for environment in json.loads(capsys.readouterr().out)["environments"]
        }
        networks = {network["kind"]: network for network in document["lxc"]["networks"]}
        assert document["docker"]["networks"] is None
        assert list(networks) == [kind for kind in NetworkKind if kind not in BETWEEN_HOSTS]
        assert networks["default"] == {
            "kind": "default",
            "usable": True,
            "network": "default, 198.18.0.11/16",
            "round_trip_s": 0.000052,
            "transferred_byte": 8 << 20,
            "transfer_s": 0.0042,
            "remarks": [],
            "reason": "",
            "remedy": "",
        }
        assert networks["veth"]["round_trip_s"] is None
        assert (networks["macvlan"]["usable"], networks["macvlan"]["remedy"]) == (False, "modprobe macvlan")
        assert networks["macvlan"]["transferred_byte"] is None

    def test_without_an_image_each_environment_says_once_how_to_get_one(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        stubs = providers(Stub("native"), Stub("lxc"))
        assert run_doctor(False, False, True, providers=stubs) == 0
        printed = capsys.readouterr().out
        assert printed.count("networks not usable: none can be tried") == 2
        assert "tare image build" in printed


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and network namespaces")
class TestRealNetworks:
    @pytest.fixture
    def installed(self, image: Image, state: Path) -> None:
        state.mkdir()
        (state / "images").symlink_to(image.root.parent.parent)

    @pytest.mark.usefixtures("installed", "machine")
    def test_nodes_in_a_chroot_meet_on_every_kind(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run_doctor(True, False, True, providers={"chroot": PROVIDERS["chroot"]}) == 0
        (document,) = json.loads(capsys.readouterr().out)["environments"]
        seen = {network["kind"]: network for network in document["networks"]}
        if not (ipvlan := seen.pop("ipvlan"))["usable"]:  # a kernel without it
            assert "modprobe -a veth ipvlan" in ipvlan["reason"]
        assert [entry["reason"] for entry in seen.values() if not entry["usable"]] == []
        assert {kind: entry["network"] for kind, entry in seen.items()} == {
            "none": "none",
            "veth": "veth, 198.18.0.11/16",
            "macvlan": "macvlan, 198.18.0.11/16",
            "host": "host's",
            "default": "default (the host's)",
        }
        assert all(entry["round_trip_s"] > 0 and entry["transfer_s"] > 0 for entry in seen.values())
        assert {tuple(entry["remarks"]) for entry in seen.values()} == {()}

    @pytest.mark.usefixtures("installed")
    def test_a_node_that_does_not_stop_is_told_although_it_was_reached(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        class Stuck(Chroot):
            networks = frozenset({NetworkKind.VETH})

            def stop(self, spec: NodeSpec) -> None:
                super().stop(spec)
                raise NodeError("it is stuck")

        run_doctor(True, False, True, providers={"chroot": Stuck()})
        (document,) = json.loads(capsys.readouterr().out)["environments"]
        (seen,) = document["networks"]
        assert not seen["usable"]
        assert seen["reason"].count("did not stop cleanly: it is stuck") == 2
        assert len(remove_leftovers().removed) == 2

    @pytest.mark.usefixtures("installed", "machine")
    def test_a_kind_that_fails_hides_no_other_and_leaves_nothing(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(spec: NodeSpec, takes_tap: bool) -> None:
            if spec.network.kind is NetworkKind.VETH:
                raise NodeError("no veth here")
            made(spec, takes_tap)

        made = network.create
        monkeypatch.setattr(network, "create", refuse)
        run_doctor(True, False, True, providers={"chroot": PROVIDERS["chroot"]})
        (document,) = json.loads(capsys.readouterr().out)["environments"]
        seen = {network["kind"]: network for network in document["networks"]}
        assert seen["veth"]["reason"] == "no veth here"
        assert seen["veth"]["remedy"]
        seen.pop("ipvlan")  # not in every kernel
        assert [kind for kind, entry in seen.items() if entry["usable"]] == [
            "none",
            "macvlan",
            "host",
            "default",
        ]


def test_what_tried_nodes_shared_is_removed_while_nobody_else_can_start_any(
    monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    held: list[bool] = []

    def look() -> None:
        with (state / "lock").open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(True)

    monkeypatch.setattr(try_nodes, "remove_parent_if_empty", look)
    with pytest.raises(ImageError), try_nodes.held_for_trying():
        pass
    assert held == [True]


def test_a_host_without_mpi_is_told_which_package_its_kernels_and_profiler_need(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    run_doctor(False, providers=providers(Stub("native")))
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  MPI "))
    assert "the NAS kernels and the MPI profiler are in images alone" in line
    assert "libopenmpi-dev" in line
