# SPDX-License-Identifier: Apache-2.0
"""What every environment owes, tried for real on this machine, for each provider of the list."""

import hashlib
import os
import re
import secrets
import time
from pathlib import Path

import pytest
from tests.contract.contract_nodes import (
    MEBIBYTE,
    Lent,
    devices_in,
    execute,
    has_emulated_devices,
    made_devices,
    make_spec,
    running,
)

from tare.host.cgroups import PARENT, find_hierarchies, group_of
from tare.host.cgroups.path import parent_of
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.node_life import start_node
from tare.nodes.devices import devices_shown, said
from tare.nodes.provider import Bind, NodeSpec, Provider, Shared, Victim
from tare.nodes.record import recorded_nodes

STARTS, STARTS_OF_MACHINES = 20, 3
"""A machine takes seconds to start."""
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]


def test_bytes_and_exit_code_pass_through_unchanged(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    given = secrets.token_bytes(MEBIBYTE // 16 if has_emulated_devices(provider) else MEBIBYTE)
    with lent.node(provider, spec) as node:
        echoed = execute(provider, node, "cat", given=given)
        failed = execute(provider, node, "sh", "-c", "echo out; echo err >&2; exit 7")
    assert hashlib.sha256(echoed.stdout).digest() == hashlib.sha256(given).digest()
    assert (failed.returncode, failed.stdout, failed.stderr) == (7, b"out\n", b"err\n")


def test_the_node_sees_its_processors_and_no_others(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    with lent.node(provider, spec) as node:
        seen = execute(provider, node, "nproc").stdout
    assert seen == b"1\n"


def test_the_quota_holds_while_burning(provider: Provider, image: Image, state: Path) -> None:
    with running(provider, make_spec(provider, image, state, cpu_quota=0.5)) as (node,):
        assert node.init_pid is not None
        group = group_of(node.init_pid)
        before, begun = group.cpu_s(), time.monotonic()
        execute(provider, node, "timeout", "1", f"{node.tools_directory}/burn", "100000000000")
        used, wall = group.cpu_s(), time.monotonic() - begun
    assert before is not None
    assert used is not None
    assert (used - before) / wall < 0.5 + 0.15  # one period more than the quota may be caught


def test_memory_beyond_the_limit_kills_the_victim_that_the_provider_states(
    provider: Provider, spec: NodeSpec, lent: Lent
) -> None:
    in_the_users_folder = set(Path.cwd().iterdir())
    with lent.node(provider, spec) as node:
        burn = f"{node.tools_directory}/burn"
        within = execute(provider, node, burn, "--touch", str(100 * MEBIBYTE))
        beyond = execute(provider, node, burn, "--touch", str(300 * MEBIBYTE))
        alive = execute(provider, node, "true")
    assert within.returncode == 0
    if provider.memory_victim is Victim.PROCESS:
        assert beyond.returncode in {137, -9}
        assert alive.returncode == 0
    else:
        assert beyond.returncode != 0
        assert alive.returncode != 0
    assert set(Path.cwd().iterdir()) == in_the_users_folder


def test_a_node_is_one_group_below_tares_parent(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    """More of them, or elsewhere, would weigh more or less than a native node when others want the processors."""
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's nodes lie where that user's session does")
    with lent.node(provider, spec) as node:
        if node.init_pid is None:
            pytest.skip("its processes are another host's or the user's own machine's")
        host, pid = find_hierarchies(), node.init_pid
        parent = parent_of(group_of(pid), host, node.spec.name)
        named = [place.name for place in host.mounts["cpu"].glob(f"*/*{node.spec.name}*")]
    assert parent in {f"{host.mounts['cpu']}/{PARENT}", f"{host.mounts['cpu']}/{PARENT}.slice"}
    assert len(named) <= 1


def test_shm_is_its_own_and_of_the_stated_size(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    with lent.node(provider, spec) as node:
        size = execute(provider, node, "df", "--block-size=1", "--output=size", "/dev/shm").stdout.split()[-1]
        execute(provider, node, "touch", f"/dev/shm/{spec.name}")
        assert not Path(f"/dev/shm/{spec.name}").exists()
    assert int(size) == spec.shm_byte


def test_device_nodes_are_its_own(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    with lent.node(provider, spec) as node:
        execute(provider, node, "sh", "-c", "rm -f /dev/null; echo x > /dev/null")
    assert Path("/dev/null").is_char_device()


def test_no_write_reaches_the_image(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    with lent.node(provider, spec) as node:
        written = execute(
            provider,
            node,
            "sh",
            "-c",
            "echo x > /etc/hostname; echo x > /root/tare-test; cat /root/tare-test",
        )
    assert written.stdout == b"x\n"
    assert not (spec.image_root / "root" / "tare-test").exists()


def test_the_work_directory_is_shared_with_the_host(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    """Or what is in it is brought to the node and back, where a node shares nothing."""
    with lent.node(provider, spec) as node:
        (node.spec.work / "input").write_text("from the host")
        provider.send(node, ["input"])
        copied = execute(
            provider, node, "cp", f"{node.work_directory}/input", f"{node.work_directory}/output"
        )
        provider.fetch(node, ["output", "missing"])
        text = (node.spec.work / "output").read_text()
    assert copied.returncode == 0
    assert text == "from the host"


def test_nothing_of_the_runners_environment_reaches_a_command(
    provider: Provider, spec: NodeSpec, lent: Lent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    with lent.node(provider, spec) as node:
        seen = execute(provider, node, "env").stdout
    assert b"OPENBLAS" not in seen


def test_a_bound_directory_is_readable_and_guarded_unless_asked(
    provider: Provider, image: Image, state: Path, tmp_path: Path
) -> None:
    if has_emulated_devices(provider):
        pytest.skip("no device that real machines have shares a folder: such a node is refused")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "data").write_text("precious")
    (tmp_path / "open").mkdir()
    binds = (Bind(path=tmp_path / "kept"), Bind(path=tmp_path / "open", writable=True))
    spec = make_spec(provider, image, state, binds=binds)
    with running(provider, spec) as (node,):
        read = execute(provider, node, "cat", f"{tmp_path}/kept/data").stdout
        refused = execute(provider, node, "touch", f"{tmp_path}/kept/new").returncode
        allowed = execute(provider, node, "touch", f"{tmp_path}/open/new").returncode
    assert read == b"precious"
    assert refused != 0
    assert allowed == 0
    assert (tmp_path / "open" / "new").exists()
    assert (tmp_path / "kept" / "data").read_text() == "precious"


def test_devices_of_the_host_are_the_same_and_open_in_the_node_or_it_says_why_not(
    provider: Provider, image: Image, state: Path
) -> None:
    if why := provider.refuse_devices(getattr(provider, "options", {})):
        assert re.search(r"\w+ \w+", why)
        return
    with (
        made_devices() as folder,
        running(provider, make_spec(provider, image, state, devices=devices_in(folder))) as (node,),
    ):
        zero, fuse = str(folder / "zero"), str(folder / "fuse")
        read = execute(provider, node, "head", "--bytes=4", zero)
        opened = execute(provider, node, "sh", "-c", f"exec 3<>{fuse}")
        seen = execute(provider, node, "stat", "--format=%t:%T %a", zero, fuse, str(folder)).stdout
        parity = devices_shown(node.spec.devices, node.init_pid)
        execute(provider, node, "rm", "--force", zero)
        assert Path(zero).is_char_device()
    assert read.stdout == bytes(4), read.stderr
    assert opened.returncode == 0, opened.stderr
    assert seen.splitlines() == [b"1:5 666", b"a:e5 666", b"0:0 755"]
    assert parity == {"devices": said(node.spec.devices)}


def test_two_nodes_at_once_do_not_meet(
    provider: Provider, spec: NodeSpec, image: Image, state: Path, lent: Lent
) -> None:
    with (
        lent.node(provider, spec) as first,
        running(provider, make_spec(provider, image, state)) as (second,),
    ):
        execute(provider, first, "sh", "-c", "echo first > /root/mark")
        seen = execute(provider, second, "sh", "-c", "cat /root/mark").returncode
        kept = execute(provider, first, "sh", "-c", "cat /root/mark && rm /root/mark").stdout
    assert (seen != 0, kept) == (True, b"first\n")


def test_the_host_name_is_the_nodes_unless_shared(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    with lent.node(provider, spec) as node:
        name = execute(provider, node, "cat", "/proc/sys/kernel/hostname").stdout.decode().strip()
    assert name == (os.uname().nodename if Shared.HOST_NAME in provider.shares else node.spec.name)


def test_orphans_are_reaped_by_the_idle_init(provider: Provider, spec: NodeSpec, lent: Lent) -> None:
    if Shared.PROCESS_IDS in provider.shares:
        pytest.skip(f"{provider.technology} shares the host's process ids: the host's own init reaps")
    with lent.node(provider, spec) as node:
        execute(provider, node, "sh", "-c", "(sh -c 'sleep 0.1' &) ; sleep 0.5")
        states = execute(provider, node, "sh", "-c", "cat /proc/[0-9]*/stat").stdout.decode()
    assert ") Z " not in states


def test_many_starts_and_stops_leave_nothing(provider: Provider, image: Image, state: Path) -> None:
    for _ in range(STARTS_OF_MACHINES if provider.takes_tap else STARTS):
        with running(provider, make_spec(provider, image, state)):
            pass
    assert list((state / "nodes").iterdir()) == []


def test_stopping_twice_and_stopping_nothing_are_harmless(provider: Provider, spec: NodeSpec) -> None:
    provider.stop(spec)
    with running(provider, spec):
        pass
    provider.stop(spec)


def test_a_node_left_by_a_killed_run_is_found_and_removed(provider: Provider, spec: NodeSpec) -> None:
    start_node(spec, provider)
    assert [path.name for path in recorded_nodes()] == [spec.name]
    assert remove_leftovers().removed == [spec.name]
    assert recorded_nodes() == []
