# SPDX-License-Identifier: Apache-2.0
"""Devices over hosts, tried for real: two sshd, each with a /dev of its own, in which verbs have other names."""

import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.environments.loopback_sshd import Sshd, running_sshd

from tare.errors import HostError
from tare.host import standing
from tare.host.facts import online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.host_devices import given_on
from tare.measure.hosts import reach
from tare.measure.trial import run_trial
from tare.nodes.devices import said
from tare.records import Environment, Layout, Limits, NamedHost, Outcome, Status, Trial, User, Workload
from tare.units import MEBIBYTE

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and device nodes"),
    pytest.mark.usefixtures("state"),
]
DEV = """\
dev=$1 name=$2 minor=$3 mode=$4
shift 4
mkdir "$dev"
mount -t tmpfs -o mode=755 dev "$dev"
cd /dev
cp --archive null zero full random urandom tty ptmx fd stdin stdout stderr "$dev"
mkdir "$dev/pts" "$dev/shm" "$dev/infiniband"
mount --bind /dev/pts "$dev/pts"
mount --bind /dev/shm "$dev/shm"
mknod --mode=666 "$dev/infiniband/$name" c 1 "$minor"
mknod --mode="$mode" "$dev/tare-switch" c 1 5
mount --move "$dev" /dev
cd /
exec "$@"
"""
"""For sh: a /dev with a device of the memory's driver under a fabric's name, and another under a switch's."""
LOW_BYTE = 1 << 16
SWITCH = "/dev/tare-switch"
OWN = {"left": ("uverbs0", "5", "666"), "right": ("uverbs1", "7", "600")}
"""Host → name and minor number of its verbs, and the mode of its switch."""
SHOWN = {"left": "/dev/infiniband/uverbs0 1:5", "right": "/dev/infiniband/uverbs1 1:7"}


@pytest.fixture
def hosts(sshd: Sshd, far: Path, tmp_path: Path) -> Iterator[list[NamedHost]]:
    assert sshd.folder.exists(), "its image is on both hosts: they share a file system"
    with ExitStack() as stack:
        own = []
        for name, words in OWN.items():
            lower = ("prlimit", f"--memlock={LOW_BYTE}:", "unshare", "--mount", "--propagation", "private")
            before = (*lower, "sh", "-e", "-c", DEV, "sh", str(tmp_path / f"dev-{name}"), *words)
            running = stack.enter_context(running_sshd(tmp_path / name, before=before))
            own.append(
                NamedHost(
                    name=name, address=running.address, ssh_options=tuple(running.options), state=str(far)
                )
            )
        yield own


def outcome(
    image: Image,
    hosts: list[NamedHost],
    raw: Path,
    technology: str,
    workload: Workload,
    layout: str,
    asked: str,
) -> Outcome:
    """Whether the commands' user may open what the hosts have is not asked of the hosts."""
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=raw,
        available_processors=online_processors(),
        hosts=reach(hosts),
        subnet="127.0.0.0/8",
        given=given_on(hosts, [asked], None),
        user=User(65530, 65530),
    )
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name=technology, technology=technology),
        replicate=0,
        layout=Layout.parse(layout),
        workload=workload,
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
        hosts=tuple(host.name for host in hosts),
    )
    return run_trial(context, trial)


def most_locked() -> str:
    """As sh's ulimit says it: without limit, where root may lift the hard one."""
    with standing.locking_memory():
        most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    assert most != LOW_BYTE
    return "unlimited" if most == resource.RLIM_INFINITY else str(most // 1024)


def test_each_node_has_its_own_hosts_verbs_and_may_lock_any_memory(
    image: Image, hosts: list[NamedHost], tmp_path: Path, far: Path
) -> None:
    script = 'cd /dev/infiniband && echo * "$(head --bytes=3 * | wc --bytes)" "$(ulimit -l)"'
    workload = Workload(name="w", kind="command", options={"argv": ["sh", "-c", script]})
    done = outcome(image, hosts, tmp_path / "raw", "native", workload, "2c1p2i on 2", "infiniband")
    assert (done.status, done.reason) == (Status.OK, None)
    assert done.facts["devices"].split(" | ") == list(SHOWN.values())
    printed = [(tmp_path / f"raw/b000-t/i{number}.stdout").read_text().split() for number in range(2)]
    assert [words[:2] for words in printed] == [["uverbs0", "3"], ["uverbs1", "3"]]
    assert [words[2] for words in printed] == [most_locked()] * 2
    assert list((far / "nodes").iterdir()) == []


def test_a_job_over_hosts_is_refused_where_one_node_may_not_open_its_device(
    image: Image, hosts: list[NamedHost], tmp_path: Path, far: Path
) -> None:
    workload = Workload(name="w", kind="command", options={"argv": ["true"], "mpi": True})
    done = outcome(image, hosts, tmp_path / "raw", "bubblewrap", workload, "2c1p1i on 2", SWITCH)
    assert done.status is Status.FAILED
    assert f"the command may not open {SWITCH} in bubblewrap on 127.0.0.1" in (done.reason or "")
    assert done.facts["devices"] == f"{SWITCH} 1:5"
    assert list((far / "nodes").iterdir()) == []


def test_a_host_without_a_fabric_is_named_before_anything_starts(
    hosts: list[NamedHost], sshd: Sshd, far: Path
) -> None:
    assert {name: said(own.devices) for name, own in given_on(hosts, ["infiniband"], None).items()} == SHOWN
    bare = NamedHost(name="bare", address=sshd.address, ssh_options=tuple(sshd.options), state=str(far))
    with pytest.raises(HostError, match=r"^host bare: .*: devices: this host has no fabric"):
        given_on([*hosts, bare], ["infiniband"], None)
