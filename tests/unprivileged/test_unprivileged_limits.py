# SPDX-License-Identifier: Apache-2.0
"""What holds a node where no control group does, and that it is checked on the process that entered."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.environments.environment_example import described
from tests.run_example import instance_run

from tare.errors import NodeError
from tare.host.facts import online_processors
from tare.measure.verify_unprivileged import rusage_s, verify_held
from tare.nodes.provider import Node, NodeSpec
from tare.nodes.unprivileged import limits, members
from tare.nodes.unprivileged.group import UserGroup
from tare.nodes.unprivileged.limits import Means

MEBIBYTE = 1 << 20
LIMIT_BYTE = 256 * MEBIBYTE
SLEEPER = "import sys; print('here', flush=True); sys.stdin.read()"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NodeSpec:
    monkeypatch.setattr(limits, "find_delegation", lambda: None)
    (tmp_path / "tare-1").mkdir()
    return described(tmp_path / "tare-1", processors=online_processors()[-1:], memory_byte=LIMIT_BYTE)


@pytest.fixture
def entered(spec: NodeSpec) -> "Iterator[subprocess.Popen[bytes]]":
    """A process under the limits, as one that was put into the node."""
    limits.establish(spec)
    with subprocess.Popen(
        [*limits.hold(spec), sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield process
        process.kill()


def seen(process: "subprocess.Popen[bytes]", **changes: object) -> dict[str, object]:
    return {"pid": process.pid, "memory_limit_byte": None, "cpu_quota": None, **changes}


def held(spec: NodeSpec) -> UserGroup:
    return UserGroup.of(Node(spec=spec, init_pid=os.getpid()))


def test_a_process_that_is_held_is_told_with_what_is_weaker(
    spec: NodeSpec, entered: "subprocess.Popen[bytes]"
) -> None:
    assert verify_held(spec, held(spec), seen(entered)) == {
        "CPU set": "by affinity",
        "memory limit": f"{LIMIT_BYTE} byte per process (RLIMIT_DATA)",
        "CPU time": "by rusage",
    }


def test_a_process_with_more_memory_is_found(spec: NodeSpec, entered: "subprocess.Popen[bytes]") -> None:
    smaller = replace(spec, memory_byte=LIMIT_BYTE // 2)
    with pytest.raises(NodeError, match=r"memory limit in bytes \(RLIMIT_DATA\) should be \d+ and is \d+"):
        verify_held(smaller, held(smaller), seen(entered))


def test_a_process_without_any_memory_limit_is_found(spec: NodeSpec) -> None:
    if resource.getrlimit(resource.RLIMIT_DATA)[1] != resource.RLIM_INFINITY:
        pytest.skip("whoever started the tests has limited them")
    free = replace(spec, processors=online_processors())
    with pytest.raises(NodeError, match=r"memory limit in bytes \(RLIMIT_DATA\).* None"):
        verify_held(free, held(free), {"pid": os.getpid()})


def test_a_process_on_other_processors_is_found(spec: NodeSpec, entered: "subprocess.Popen[bytes]") -> None:
    if len(online_processors()) < 2:
        pytest.skip("takes two processors")
    os.sched_setaffinity(entered.pid, online_processors()[:1])
    with pytest.raises(NodeError, match=r"processors \(affinity\)"):
        verify_held(spec, held(spec), seen(entered))


def test_a_process_that_is_not_in_the_node_is_found(spec: NodeSpec) -> None:
    with pytest.raises(NodeError, match="the entered command is not in the node"):
        verify_held(spec, held(spec), {"pid": 2**22 - 1})


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"memory_limit_byte": LIMIT_BYTE - 1}, "this session's own memory limit is 256 MiB"),
        ({"cpu_quota": 0.5}, "this session's own CPU quota is 0.5 processors"),
    ],
)
def test_a_session_that_is_held_to_less_than_the_node_is_refused(
    own: dict[str, object], said: str, spec: NodeSpec, entered: "subprocess.Popen[bytes]"
) -> None:
    with pytest.raises(NodeError, match=said):
        verify_held(spec, held(spec), seen(entered, **own))


def test_a_session_with_more_than_the_node_needs_is_fine(
    spec: NodeSpec, entered: "subprocess.Popen[bytes]"
) -> None:
    assert verify_held(spec, held(spec), seen(entered, memory_limit_byte=LIMIT_BYTE, cpu_quota=64.0))


def test_a_quota_is_refused_with_the_ways_to_have_it(spec: NodeSpec) -> None:
    with_quota = described(spec.directory, cpu_quota=0.5)
    with pytest.raises(
        NodeError, match=r"takes a control group.*leave out cpu_quota, run as root, or: systemd-run"
    ):
        limits.establish(with_quota)


def test_a_node_of_which_nothing_is_written_is_held_by_nothing(tmp_path: Path) -> None:
    assert limits.recall(described(tmp_path / "absent")) == Means()


def test_a_process_that_is_gone_has_no_neighbours() -> None:
    with pytest.raises(NodeError, match="has ended"):
        members.beside(2**22 - 1)


def test_a_process_holds_itself_to_its_processors_and_memory() -> None:
    code = (
        "import os, resource; from tare.nodes.unprivileged.limits import hold_self;"
        f"hold_self(({online_processors()[-1]},), {LIMIT_BYTE});"
        "print(os.sched_getaffinity(0), resource.getrlimit(resource.RLIMIT_DATA))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == f"{{{online_processors()[-1]}}} ({LIMIT_BYTE}, {LIMIT_BYTE})\n"


def test_processors_that_are_not_there_are_refused() -> None:
    with pytest.raises(NodeError, match="cannot limit the node to its processors"):
        limits.hold_self((4095,), None)


MOUNTINFO = b"36 35 98:0 / / rw,noatime master:1 - ext4 /dev/root rw\n"


@given(
    name=st.from_regex(r"tare-[0-9a-f]{1,8}-[0-9]{1,3}", fullmatch=True),
    other=st.text("tare-0123456789", min_size=1),
)
def test_only_a_mount_whose_source_is_the_nodes_name_marks_a_process(name: str, other: str) -> None:
    line = f"40 36 0:50 / /root rw - tmpfs {name} rw,size=1k\n".encode()
    assert members._is_marked(MOUNTINFO + line, name)
    assert not members._is_marked(MOUNTINFO, name)
    assert members._is_marked(MOUNTINFO + line, other) == (name == other)


def test_cpu_time_by_rusage_is_that_of_all_instances() -> None:
    assert rusage_s([instance_run(user_s=1.0, system_s=0.25), instance_run(user_s=2.0, system_s=0.5)]) == 3.75


def test_cpu_time_that_one_instance_does_not_tell_is_missing() -> None:
    assert (
        rusage_s([instance_run(user_s=1.0, system_s=0.25), instance_run(user_s=None, system_s=None)]) is None
    )
