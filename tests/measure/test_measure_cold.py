# SPDX-License-Identifier: Apache-2.0
"""Before a cold read every cache between node and disk is emptied, and by whom is a fact; where one stays, no run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import fake_context
from tests.measure.measure_nodes import node_spec
from tests.measure.test_measure_trial import a_trial

from tare.environments.fake import Fake
from tare.environments.gvisor import Gvisor
from tare.environments.qemu import Qemu
from tare.errors import NodeError
from tare.host import caches
from tare.measure.cold import FACT, empty_caches
from tare.measure.seats import Seat
from tare.measure.trial import run_trial
from tare.measure.ways import Ways
from tare.nodes.provider import Elsewhere, Node, Provider
from tare.records import Status, Workload
from tare.workloads.command import AnyCommand
from tare.workloads.kind import Shape


def seat(folder: Path, provider: Provider, **node: object) -> Seat:
    made = Node(spec=node_spec(folder, provider.technology), init_pid=None, **node)  # type: ignore[arg-type]
    return Seat(
        number=0,
        node=made,
        provider=provider,
        members=(made,),
        member_provider=provider,
        processors=(0,),
        shape=Shape(processors=1, memory_byte=1, instance=0, tools_directory="/tools"),
        ways=Ways(),
    )


@pytest.fixture
def emptied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whose caches were emptied, in order; none of this host's really are."""
    order: list[str] = []

    def inside(prefix: Sequence[str]) -> None:
        assert prefix[-1] == "--"
        order.append("guest")

    monkeypatch.setattr(caches, "may_empty", lambda: True)
    monkeypatch.setattr(caches, "empty", lambda: order.append("host"))
    monkeypatch.setattr(caches, "empty_inside", inside)
    return order


def test_the_host_empties_its_own_for_a_node_on_its_kernel(tmp_path: Path, emptied: list[str]) -> None:
    assert empty_caches([seat(tmp_path, Fake())]) == {FACT: "this host's by the runner (sync, drop_caches)"}
    assert emptied == ["host"]


def test_a_guest_empties_its_own_first_as_that_writes_to_the_hosts(
    tmp_path: Path, emptied: list[str]
) -> None:
    said = empty_caches([seat(tmp_path, Qemu(), own_kernel=True, machine=True)])
    assert said[FACT].startswith("the guest's by its own first process")
    assert said[FACT].endswith("; this host's by the runner (sync, drop_caches)")
    assert emptied == ["guest", "host"]


def test_a_cache_that_nobody_can_empty_is_a_reason(tmp_path: Path, emptied: list[str]) -> None:
    with pytest.raises(NodeError, match="a cold read is not possible in gvisor: its own kernel caches files"):
        empty_caches([seat(tmp_path, Gvisor(), own_kernel=True)])
    with pytest.raises(NodeError, match="its files are cached on another host"):
        empty_caches([seat(tmp_path, Fake(), elsewhere=Elsewhere())])
    assert emptied == []


def test_without_root_the_writer_forgets_its_own_file_but_no_guests_disk(
    tmp_path: Path, emptied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "may_empty", lambda: False)
    assert "posix_fadvise" in empty_caches([seat(tmp_path, Fake())])[FACT]
    with pytest.raises(NodeError, match="this host's caches of the guests' disks need root"):
        empty_caches([seat(tmp_path, Qemu(), own_kernel=True, machine=True)])
    assert emptied == ["guest"]


@pytest.mark.usefixtures("state")
def test_only_a_cold_run_empties_caches(
    tmp_path: Path, programs: Path, emptied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = Workload(name="work", kind="command", options={"argv": ["true"], "prepare": ["touch", "made"]})
    context = fake_context(tmp_path, programs)
    assert FACT not in run_trial(context, a_trial(workload)).facts
    assert emptied == []
    warm = AnyCommand.job
    monkeypatch.setattr(AnyCommand, "job", lambda *given: replace(warm(*given), cold=True))
    outcome = run_trial(context, a_trial(workload))
    assert (outcome.status, outcome.facts[FACT]) == (
        Status.OK,
        "this host's by the runner (sync, drop_caches)",
    )
    assert emptied == ["host"]
