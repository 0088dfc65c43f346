# SPDX-License-Identifier: Apache-2.0
"""A campaign's list of hosts, tried for real: two names of an sshd on the loopback, and this host itself."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.loopback_sshd import Sshd, running_sshd

from tare.errors import HostError
from tare.host.facts import memory_byte, online_processors
from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.hosts import common_subnet, far_of, reach
from tare.measure.trial import run_trial
from tare.records import (
    Environment,
    Layout,
    Limits,
    NamedHost,
    Neighbour,
    OptionValue,
    Outcome,
    Status,
    Trial,
    Workload,
)
from tare.units import MEBIBYTE

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
    pytest.mark.usefixtures("state"),
]


HOSTNAME: Mapping[str, OptionValue] = {"argv": ["hostname"]}
MPI_HOSTNAME: Mapping[str, OptionValue] = {**HOSTNAME, "mpi": True}


@pytest.fixture
def hosts(sshd: Sshd, far: Path, tmp_path: Path) -> tuple[NamedHost, ...]:
    configuration = tmp_path / "ssh_config"
    configuration.write_text("Host one two\n  HostName 127.0.0.1\n")
    words = tuple(str(configuration) if word == "none" else word for word in sshd.options)
    return tuple(
        NamedHost(name=name, address=name, ssh_options=words, state=str(far)) for name in ("one", "two")
    )


def outcome(
    image: Image,
    hosts: tuple[NamedHost, ...],
    raw: Path,
    technology: str,
    layout: str,
    *,
    options: Mapping[str, OptionValue] = MPI_HOSTNAME,
    neighbour: Neighbour | None = None,
) -> Outcome:
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=raw,
        available_processors=online_processors(),
        hosts=reach(hosts),
        subnet="127.0.0.0/8",
    )
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name=technology, technology=technology),
        replicate=0,
        layout=Layout.parse(layout),
        workload=Workload(name="w", kind="command", options=options),
        limits=Limits(memory_byte=512 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0),
        hosts=tuple(host.name for host in hosts),
        neighbour=neighbour,
    )
    return run_trial(context, trial)


@pytest.mark.parametrize(("technology", "names"), [("bubblewrap", 4), ("native", 1)])
def test_native_and_environment_are_both_on_the_hosts(
    image: Image, hosts: tuple[NamedHost, ...], tmp_path: Path, far: Path, technology: str, names: int
) -> None:
    """A native node has its host's own name, and here both hosts are the same one."""
    done = outcome(image, hosts, tmp_path / "raw", technology, "4c1p1i on 2 scattered")
    assert (done.status, done.reason) == (Status.OK, None)
    assert set(done.host_times_s) == ({"one", "two"} if technology == "native" else set())
    ranks = (tmp_path / "raw" / "b000-t" / "i0.stdout").read_text().split()
    assert (len(ranks), len(set(ranks))) == (4, names)
    assert done.facts["host"].count("by ssh") == 1  # as both have one name
    for clock in done.host_clocks.values():
        assert clock.offset_s == pytest.approx(0.0, abs=clock.bound_s)  # both are this host
    for own in done.host_signals.values():
        assert {"host_switches", "minor_faults"} <= {signal.name for signal in own.signals}
    assert set(done.host_clocks) == set(done.host_signals) == {"one", "two"}
    assert list((far / "nodes").iterdir()) == []


@pytest.mark.parametrize(("command", "ended"), [(["sleep", "60"], False), (["false"], True)])
def test_a_neighbour_runs_beside_the_nodes_on_the_hosts(
    image: Image, hosts: tuple[NamedHost, ...], tmp_path: Path, far: Path, command: list[str], ended: bool
) -> None:
    """One that ends is found out, on whichever host it is."""
    neighbour = Neighbour(
        environment=Environment(name="beside", technology="bubblewrap"),
        workload=Workload(name="n", kind="command", options={"argv": command}),
        count=1,
    )
    done = outcome(
        image, hosts, tmp_path / "raw", "native", "2c1p2i on 2", options=HOSTNAME, neighbour=neighbour
    )
    if ended:
        assert done.reason is not None
        assert "the neighbour in " in done.reason
    else:
        assert (done.status, done.reason) == (Status.OK, None)
    assert list((far / "nodes").iterdir()) == []


def test_the_nodes_of_a_pbs_job_are_reached_by_its_list(
    image: Image, hosts: tuple[NamedHost, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nodes").write_text("one\none\ntwo\ntwo\n")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "nodes"))
    own = tuple(
        replace(host, name=f"pbs-{number}", address=None, scheduler="pbs", number=number)
        for number, host in enumerate(hosts)
    )
    done = outcome(image, own, tmp_path / "raw", "native", "2c1p1i on 2")
    assert (done.status, done.reason) == (Status.OK, None)
    assert (done.real_hosts, set(done.host_times_s)) == (("one", "two"), {"one", "two"})
    reached = reach(own)["pbs-1"]
    assert (reached.real_name, reached.described["node of the job"]) == ("two", "two")
    monkeypatch.setenv("PBS_NODEFILE", str(tmp_path / "fewer"))
    (tmp_path / "fewer").write_text(f"{os.uname().nodename}.cluster\n")
    assert reach([replace(own[0], name="this", state=None)])["this"].processors == online_processors()
    with pytest.raises(HostError, match="over 2 or more nodes, and this job of pbs has 1"):
        far_of(own[1])


def test_this_host_is_reached_without_ssh_and_says_what_it_has() -> None:
    (here,) = reach([NamedHost(name="here")]).values()
    assert here.processors == online_processors()
    assert here.memory_byte == memory_byte()
    assert here.facts["kernel"] == os.uname().release
    assert "127.0.0.1" in {str(interface.ip) for interface in here.interfaces}


def test_hosts_that_do_not_answer_are_all_named(hosts: tuple[NamedHost, ...]) -> None:
    gone = [NamedHost(name=name, address=f"{name}.invalid") for name in ("a", "b")]
    with pytest.raises(HostError, match=r"host a: .*host b: a?b?\.?.*cannot be reached by ssh"):
        reach([hosts[0], *gone])


def test_the_loopback_is_no_network_between_hosts(hosts: tuple[NamedHost, ...]) -> None:
    reached = reach(hosts)
    assert common_subnet(reached.values()) is None  # both are this host, with the same addresses


def test_a_host_whose_clock_is_three_seconds_ahead_is_known_and_starts_with_the_others(
    image: Image, hosts: tuple[NamedHost, ...], tmp_path: Path, far: Path
) -> None:
    """Its sshd is in a time namespace of its own, whose clock is as good as another host's."""
    shifted = ("unshare", "--time", "--monotonic", "3", "--boottime", "3")
    with running_sshd(tmp_path / "ahead", before=shifted) as sshd:
        ahead = NamedHost(name="ahead", address="127.0.0.1", ssh_options=tuple(sshd.options), state=str(far))
        done = outcome(image, (hosts[0], ahead), tmp_path / "raw", "native", "2c1p2i on 2", options=HOSTNAME)
    assert (done.status, done.reason) == (Status.OK, None)
    for name, offset_s in (("one", 0.0), ("ahead", 3.0)):
        clock = done.host_clocks[name]
        assert clock.bound_s is not None
        assert clock.offset_s == pytest.approx(offset_s, abs=clock.bound_s)
        assert clock.bound_s <= clock.least_round_trip_s
    assert done.barrier_skew_s is not None
    assert done.barrier_skew_bound_s is not None
    assert 0 < done.barrier_skew_bound_s < 1.0
    assert done.barrier_skew_s < 1.0


OTHER_KERNEL = """
[ "$OMPI_COMM_WORLD_RANK" = 1 ] || exec "$@"
echo 7f1c4c58-6a5e-4b0e-9a55-1f0d8f3a7c11 >boot_id
echo hpet >clocksource
exec unshare --fork --kill-child --mount --time --monotonic 3 sh -c '
    mount --bind boot_id /proc/sys/kernel/random/boot_id || exit
    mount --bind clocksource /sys/devices/system/clocksource/clocksource0/current_clocksource || exit
    exec "$0" "$@"' "$@"
"""
"""For the rank on the second host: its clock is three seconds ahead, and looks like another kernel's."""


def test_late_senders_and_collective_waits_between_hosts_are_known_within_a_bound(
    image: Image, hosts: tuple[NamedHost, ...], tmp_path: Path
) -> None:
    argv = ["sh", "-c", OTHER_KERNEL, "sh", "/opt/tare/bin/npb-is", "--class", "S"]
    options: Mapping[str, OptionValue] = {"argv": argv, "mpi": True, "profile": True}
    done = outcome(image, hosts, tmp_path / "raw", "native", "2c1p1i on 2", options=options)
    assert (done.status, done.reason) == (Status.OK, None)
    said = done.facts["mpi waits between clocks"]
    assert re.fullmatch(r"mean over the ranks: late senders within [\d.]+ ms, waits in .* ms", said)
