# SPDX-License-Identifier: Apache-2.0
"""The same nodes by hand: what an administrator types for the same layer, limits and empty network, as two scripts.

A script starts a program for each step; where ``bench.lean_nodes`` has the technology, that is compared with instead.
"""

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tare.environments.gvisor import configuration
from tare.host import cgroups, process
from tare.nodes.provider import TOOLS_DIRECTORY, NodeSpec

INIT = f"{TOOLS_DIRECTORY}/init"
LAYER = """
mkdir -p $D/layer $D/root; mount -t tmpfs -o size=$MEMORY,mode=755 bare $D/layer
mkdir -p $D/layer/upper/mnt/tare $D/layer/overlay-work $D/layer/work
mount -t overlay -o lowerdir=$IMAGE,upperdir=$D/layer/upper,workdir=$D/layer/overlay-work bare $D/root
"""
SYSTEM = """
mount -t proc proc $D/root/proc; mount -t sysfs -o ro sysfs $D/root/sys; mount -t tmpfs -o mode=755 dev $D/root/dev
mkdir $D/root/dev/shm $D/root/dev/pts; mount -t tmpfs -o size=$SHM,mode=1777 shm $D/root/dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts $D/root/dev/pts
mknod -m 666 $D/root/dev/null c 1 3; mknod -m 666 $D/root/dev/zero c 1 5; mknod -m 666 $D/root/dev/urandom c 1 9
mount --bind $D/layer/work $D/root/mnt/tare
"""
NETWORK = "touch $D/network; unshare --net=$D/network ip link set lo up\n"
BELOW = "nsenter --net=$D/network"
READY = "for try in $(seq 4000); do grep -q READY $D/ready && exit 0; sleep 0.002; done; exit 1\n"
STOP = """
for group in $GROUPS; do for pid in $(cat $group/cgroup.procs); do kill -KILL $pid 2>/dev/null || :; done; done
for group in $GROUPS; do until rmdir $group 2>/dev/null || [ ! -e $group ]; do sleep 0.001; done; done
"""
STOP_NESTED = """
for group in $GROUPS $OTHERS; do
    [ -e $group ] || continue
    for pid in $(find $group -name cgroup.procs -exec cat {} +); do kill -KILL $pid 2>/dev/null || :; done
done
for group in $GROUPS $OTHERS; do
    while [ -e $group ]; do find $group -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.001; done
done
"""
"""systemd-nspawn makes groups of its own below the node's, in every hierarchy."""
UNMOUNT = "umount --recursive $D/root; umount $D/layer; [ ! -e $D/network ] || umount $D/network; rm -r $D\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """How one technology is started and stopped without Tare."""

    start: str
    stop: str

    def up(self, spec: NodeSpec) -> None:
        run(self.start, spec)

    def down(self, spec: NodeSpec) -> None:
        run(self.stop, spec)


def run(script: str, spec: NodeSpec) -> None:
    argv = ["sh", "-e", "-c", script]
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**process.tool_environment(), **variables(spec)},
        timeout=120,
    )
    if done.returncode != 0:
        raise SystemExit(f"the script for {spec.name} ended with {done.returncode}: {done.stderr}\n{script}")


def variables(spec: NodeSpec) -> dict[str, str]:
    groups = [str(folder) for folder in cgroups.own_group(spec.name).directories]
    others = cgroups.named_groups(f"{cgroups.PARENT}/{spec.name}").directories
    return {
        "N": spec.name,
        "D": str(spec.directory),
        "IMAGE": str(spec.image_root),
        "MEMORY": str(spec.memory_byte),
        "SHM": str(spec.shm_byte),
        "CPUS": cgroups.format_processors(spec.processors),
        "GROUPS": " ".join(groups),
        "OTHERS": " ".join(str(folder) for folder in others),
        "BUNDLE": json.dumps(configuration(spec, spec.directory / "root")),
    }


def group_script() -> str:
    """Make the groups and set the limits, as cgroups(7) has it."""
    hierarchies = cgroups.find_hierarchies()
    lines = ["mkdir -p $GROUPS"]
    for group, parent in ((f"{point}/tare/$N", f"{point}/tare") for point in hierarchies.mounts.values()):
        if hierarchies.version == cgroups.V2:
            lines += [f"echo '+cpu +cpuset +memory' > {parent}/cgroup.subtree_control"]
            lines += [f"echo $CPUS > {group}/cpuset.cpus", f"echo $MEMORY > {group}/memory.max"]
        elif "cpuset" in group:
            lines += [
                f"cat {parent}/../cpuset.{literal} > {parent}/cpuset.{literal}"
                for literal in ("mems", "cpus")
            ]
            lines += [f"cat {parent}/cpuset.mems > {group}/cpuset.mems", f"echo $CPUS > {group}/cpuset.cpus"]
        elif "/memory" in group:
            lines += [f"echo $MEMORY > {group}/memory.limit_in_bytes"]
    return "\n".join(lines) + "\n"


def in_group(tool: str) -> str:
    """The tool in the groups and in the background, until Tare's init says READY."""
    inside = f"for group in $GROUPS; do echo 0 > $group/cgroup.procs; done; exec {tool} {INIT}"
    return f"sh -c {shlex.quote(inside)} > $D/ready 2> $D/log < /dev/null &\n{READY}"


def by_hand(tool: str, *, system: bool = False, network: bool = True, nested: bool = False) -> Bare:
    """A technology that leaves layer, network and limits to whoever starts it."""
    prefix = f"{BELOW} " if network else ""
    before = LAYER + (SYSTEM if system else "") + (NETWORK if network or nested else "") + group_script()
    return Bare(start=before + in_group(prefix + tool), stop=(STOP_NESTED if nested else STOP) + UNMOUNT)


def by_daemon(tool: str, image: str) -> Bare:
    limits = "--network none --cpuset-cpus $CPUS --memory $MEMORY --shm-size $SHM"
    start = (
        f"mkdir -p $D/work; {tool} run --detach --name $N {limits} --volume $D/work:/mnt/tare {image} {INIT}"
    )
    return Bare(start=start, stop=f"{tool} rm --force $N; rm -r $D")


def gvisor() -> Bare:
    """runsc with the bundle that Tare writes too; run returns when the sandbox is up."""
    tool = "runsc --root=/run/$N"
    run = f"{tool} --ignore-cgroups --overlay2=none run --detach --bundle=$D $N"
    inside = f"for group in $GROUPS; do echo 0 > $group/cgroup.procs; done; exec {run}"
    write = "printf '%s' \"$BUNDLE\" > $D/config.json\n"
    start = f"{LAYER}{NETWORK}{group_script()}{write}sh -c {shlex.quote(inside)} > $D/log 2>&1 < /dev/null\n"
    return Bare(start=start, stop=f"{tool} delete --force $N\n{STOP}{UNMOUNT}rm -r /run/$N\n")


NSPAWN = (
    "systemd-nspawn --quiet --directory $D/root --machine=$N --register=no --keep-unit "
    "--network-namespace-path=$D/network --console=pipe --kill-signal=SIGTERM "
    "--tmpfs=/dev/shm:mode=1777,size=$SHM --bind=$D/layer/work:/mnt/tare"
)
BARE: Mapping[str, Callable[[], Bare]] = {
    "chroot": lambda: by_hand("chroot $D/root", system=True),
    "systemd-nspawn": lambda: by_hand(NSPAWN, network=False, nested=True),
    "gvisor": gvisor,
}
"""Technology → its two scripts; the engines' need the name of their image, see ``by_daemon``."""
