# SPDX-License-Identifier: Apache-2.0
"""A real Slurm for tests: a controller and nodes, each in namespaces of its own, joined by a bridge in another.

``python -m tests.slurm.cluster`` keeps one up until its standard input ends, for trying by hand.
"""

import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

USER = "tare-user"
UID = 64123
"""A user whom only the cluster's namespaces know."""
PROGRAMS = ("slurmctld", "slurmd", "srun", "munged")
_NETWORK = "198.18.16"
_UP_LIMIT_S = 90.0
_END_LIMIT_S = 20.0
_PLACE = """\
hostname "$1"
for file in hosts passwd group; do mount --bind "$2/$file" "/etc/$file"; done
shift 2
exec "$@"
"""
"""For sh in new namespaces: $1 is the host's name, $2 the cluster's folder, the command follows.

``ip netns exec`` would mount a /sys of its own, in which slurmd misses the control groups.
"""
_CONFIGURATION = """\
ClusterName=tare
SlurmctldHost=controller({network}.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/controller
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/completed
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0
MpiDefault=none
ReturnToService=2
MessageTimeout=60
KillWait=5
{further}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""


@dataclass(frozen=True)
class Cluster:
    """One that is up; every command of Slurm's works where ``argv`` puts it."""

    folder: Path
    nodes: tuple[str, ...]
    prefix: str
    """Of the names of its network namespaces."""
    daemons: "dict[str, subprocess.Popen[bytes]]"
    """The controller's and each node's, by the host's name; a test may end one and ``start`` it again."""

    def argv(self, *argv: str, user: bool = False, at: str = "controller") -> list[str]:
        """A command on the controller, where people log in, or on a node; as root or as the cluster's ``user``."""
        home = [f"HOME={self.folder}/home", f"USER={USER}"] if user else []
        words = [f"SLURM_CONF={self.folder}/slurm.conf", *home]
        who = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"] if user else []
        target = str(self.daemons[at].pid)
        enter = ["nsenter", "--target", target, "--net", "--uts", "--mount"]
        return [*enter, *who, "env", *words, *argv]

    def run(
        self, *argv: str, user: bool = False, timeout_s: float = 60.0
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command on the controller to its end."""
        return subprocess.run(
            self.argv(*argv, user=user),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def start(self, host: str) -> None:
        """Start a host's daemon; it stays in the foreground, so that its number is known."""
        daemon = ["slurmctld", "-D"] if host == "controller" else ["slurmd", "-D", "-N", host]
        place = ["sh", "-c", _PLACE, "sh", host, str(self.folder), *daemon]
        namespaces = ["nsenter", f"--net=/run/netns/{self.namespace(host)}", "unshare", "--uts", "--mount"]
        with (self.folder / f"log.{host}").open("ab") as log:
            self.daemons[host] = subprocess.Popen(
                [*namespaces, *place],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={"PATH": os.environ["PATH"], "SLURM_CONF": f"{self.folder}/slurm.conf"},
            )

    def namespace(self, host: str) -> str:
        """The network namespace of a host."""
        return f"{self.prefix}-{host}"

    def states(self) -> dict[str, str]:
        """Node → its state in Slurm's words, such as ``idle``; empty while the controller does not answer."""
        said = self.run("sinfo", "--noheader", "-N", "-o", "%N %t").stdout
        return dict(line.split() for line in said.splitlines() if len(line.split()) == 2)

    def wait_until(self, holds: Callable[[], bool], limit_s: float = _UP_LIMIT_S) -> None:
        """Wait for it; an ``AssertionError`` shows the daemons' last words."""
        deadline = time.monotonic() + limit_s
        while not holds():
            assert time.monotonic() < deadline, self.last_words()
            time.sleep(0.1)

    def last_words(self) -> str:
        logs = sorted(self.folder.glob("log.*"))
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in logs)


def lacking() -> str | None:
    """Why no cluster can be made here; ``None``: it can."""
    if os.geteuid() != 0:
        return "a cluster of namespaces needs root"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"{', '.join(missing)} missing: apt-get install slurm-wlm munge" if missing else None


@contextmanager
def running_cluster(count: int = 4, *further: str, processors: int | None = None) -> Iterator[Cluster]:
    """A cluster of so many nodes, ``n1`` and on, with ``further`` lines in slurm.conf; nothing of it stays.

    Each node has all of this machine's processors, or as many as it is to claim.
    """
    folder = Path(tempfile.mkdtemp(prefix="tare-slurm-"))  # pytest's own folders are root's alone
    folder.chmod(0o755)
    nodes = tuple(f"n{number}" for number in range(1, count + 1))
    cluster = Cluster(folder, nodes, f"ts-{secrets.token_hex(2)}", {})
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        _write_files(cluster, further, processors or len(os.sched_getaffinity(0)))
        stack.enter_context(_network(cluster))
        stack.enter_context(_munge(folder))
        stack.callback(_end_all, cluster)
        for host in ("controller", *nodes):
            cluster.start(host)
        cluster.wait_until(lambda: set(cluster.states().values()) == {"idle"})
        yield cluster


def _write_files(cluster: Cluster, further: Sequence[str], processors: int) -> None:
    folder = cluster.folder
    names = [f"{_NETWORK}.{10 + number} {node}" for number, node in enumerate(cluster.nodes, 1)]
    (folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", f"{_NETWORK}.1 controller", *names, ""]))
    user = {"passwd": f"{USER}:x:{UID}:{UID}::{folder}/home:/bin/sh\n", "group": f"{USER}:x:{UID}:\n"}
    for name, line in user.items():
        (folder / name).write_text(Path(f"/etc/{name}").read_text() + line)
    (folder / "home").mkdir()
    os.chown(folder / "home", UID, UID)
    for node in cluster.nodes:
        (folder / f"spool.{node}").mkdir()
        (folder / f"tmp.{node}").mkdir()
        (folder / f"tmp.{node}").chmod(0o1777)
    described = [
        f"NodeName={node} NodeAddr={_NETWORK}.{10 + number} CPUs={processors} RealMemory=2000 State=UNKNOWN"
        for number, node in enumerate(cluster.nodes, 1)
    ]
    lines = "\n".join([*further, *described])
    (folder / "slurm.conf").write_text(_CONFIGURATION.format(network=_NETWORK, folder=folder, further=lines))


@contextmanager
def _network(cluster: Cluster) -> Iterator[None]:
    """The bridge has a namespace of its own: in the machine's, Docker's packet filter would see its traffic."""
    switch = f"{cluster.prefix}-switch"
    hosts = {"controller": 1, **{node: 10 + number for number, node in enumerate(cluster.nodes, 1)}}
    namespaces = [switch, *map(cluster.namespace, hosts)]
    made: list[str] = []
    try:
        for name in namespaces:
            _do("ip", "netns", "add", name)
            made.append(name)
            _do("ip", "-n", name, "link", "set", "lo", "up")
        _do("ip", "-n", switch, "link", "add", "bridge", "type", "bridge")
        _do("ip", "-n", switch, "link", "set", "bridge", "up")
        for host, number in hosts.items():
            name = cluster.namespace(host)
            off = "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6"
            _do("nsenter", f"--net=/run/netns/{name}", "sh", "-c", f"[ ! -d /proc/sys/net/ipv6 ] || {off}")
            peer = ["peer", "name", host, "netns", switch]
            _do("ip", "-n", name, "link", "add", "eth0", "type", "veth", *peer)
            _do("ip", "-n", switch, "link", "set", host, "master", "bridge", "up")
            _do("ip", "-n", name, "addr", "add", f"{_NETWORK}.{number}/24", "dev", "eth0")
            _do("ip", "-n", name, "link", "set", "eth0", "up")
        yield
    finally:
        for name in made:
            _do("ip", "netns", "del", name)


@contextmanager
def _munge(folder: Path) -> Iterator[None]:
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    places = [
        f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in ("socket", "pid-file", "log-file")
    ]
    argv = [
        "munged",
        "--foreground",
        "--force",
        *places,
        f"--key-file={key}",
        f"--seed-file={folder}/munge.seed",
    ]
    with (folder / "log.munged").open("wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + _END_LIMIT_S
        while not (folder / "munge.socket").exists():
            assert process.poll() is None, (folder / "log.munged").read_text()
            assert time.monotonic() < deadline, (folder / "log.munged").read_text()
            time.sleep(0.02)
        yield
    finally:
        _end(process)


def _end_all(cluster: Cluster) -> None:
    """End the daemons, then whatever else still runs in the cluster's namespaces: steps outlive slurmd."""
    for process in cluster.daemons.values():
        process.terminate()
    for process in cluster.daemons.values():
        _end(process)
    deadline = time.monotonic() + _END_LIMIT_S
    while (left := _inhabitants(cluster)) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _inhabitants(cluster: Cluster) -> list[int]:
    names = map(cluster.namespace, ("controller", *cluster.nodes))
    said = [_do("ip", "netns", "pids", name) for name in names]
    return [int(word) for text in said for word in text.split()]


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(timeout=_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=_END_LIMIT_S)


def _do(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, f"{shlex.join(argv)}: {done.stderr}"
    return done.stdout


if __name__ == "__main__":
    with running_cluster(int(sys.argv[1]) if len(sys.argv) > 1 else 4) as up:
        said = f"Slurm's files are in {up.folder}. Write before a command, as root or as {USER}:"
        sys.stdout.write("\n".join([said, shlex.join(up.argv()), shlex.join(up.argv(user=True)), ""]))
        sys.stdout.flush()
        sys.stdin.read()
