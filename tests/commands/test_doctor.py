# SPDX-License-Identifier: Apache-2.0
"""``tare doctor`` with providers that work, do not, throw and hang."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from tare.commands.doctor import probe_all, run_doctor
from tare.environments import PROVIDERS
from tare.environments.fake import Fake
from tare.environments.provider import Node, NodeSpec, Probe, Provider
from tare.errors import NodeError

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

    def probe(self) -> Probe:
        if self.wait is not None:
            self.wait.wait(30)
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


def test_an_unusable_native_is_exit_3() -> None:
    assert run_doctor(False, providers=providers(Stub("native", MISSING), Stub("docker"))) == 3


def test_a_probe_that_throws_is_not_usable_and_shows_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    found = providers(
        Stub("native"), Stub("docker", ZeroDivisionError("odd")), Stub("lxc", NodeError("no lxc"))
    )
    assert run_doctor(False, providers=found) == 0
    captured = capsys.readouterr()
    assert "its probe failed: odd" in captured.out
    assert "its probe failed: no lxc" in captured.out
    assert "Traceback" not in captured.out + captured.err


def test_a_probe_that_hangs_is_given_up_at_the_limit(hanging: Stub) -> None:
    begun = time.monotonic()
    found = probe_all(providers(Stub("native"), hanging), limit_s=0.2)
    assert time.monotonic() - begun < 5
    assert found["native"].usable
    assert not found["lxc"].usable
    assert "within 0.2 s" in found["lxc"].reason


def test_json_holds_environments_host_and_threats(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_doctor(True, providers=providers(Stub("native"), Stub("docker", MISSING))) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1
    assert [one["technology"] for one in found["environments"]] == ["native", "docker"]
    assert found["environments"][1]["remedy"] == "apt-get install docker.io"
    assert found["environments"][0]["tried"] is None
    assert found["host"]["kernel"]
    assert all(set(threat) == {"subject", "remark", "remedy"} for threat in found["threats"])


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
    found = json.loads(capsys.readouterr().out)["environments"]
    assert [one["technology"] for one in found] == list(PROVIDERS)
    assert all(one["usable"] or (one["reason"] and one["remedy"]) for one in found)


@pytest.mark.usefixtures("fake_image")
def test_trying_runs_a_real_trial_in_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_doctor(True, True, providers={"fake": Fake()}) == 0
    (found,) = json.loads(capsys.readouterr().out)["environments"]
    assert found["tried"]["usable"]
    assert found["tried"]["version"].startswith("up in ")


def test_trying_without_an_image_says_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_doctor(False, True, providers=providers(Stub("native"))) == 3
    assert "no node can be tried" in (printed := capsys.readouterr().out)
    assert "tare image build" in printed
