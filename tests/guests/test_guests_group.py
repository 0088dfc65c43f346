# SPDX-License-Identifier: Apache-2.0
"""What a guest's kernel and monitor tell of its limits."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.environments.environment_example import described
from tests.network.namespaces import GONE

from tare.errors import NodeError
from tare.guests.group import Held, OwnMachineGroup, parse_kills
from tare.guests.route import kept_ms, whole_ms
from tare.host.cgroups import V2, Group
from tare.records import Bounds

MEBIBYTE = 1 << 20
VMSTAT = "nr_free_pages 100\npgpgin 5\noom_kill 3\ndrop_pagecache 0\n"


def group(folder: Path, memory_byte: int, prefix: tuple[str, ...] = ("false",)) -> OwnMachineGroup:
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    (folder / "memory.max").write_text(str(1000 * MEBIBYTE))
    (folder / "cpuset.cpus.effective").write_text("0-3")
    (folder / "cpu.max").write_text("50000 100000")
    host = Group(V2, dict.fromkeys(("cpu", "cpuset", "memory"), folder))
    held = Held(memory_byte=memory_byte, processors=(2, 3))
    spec = described(memory_byte=200 * MEBIBYTE)
    return OwnMachineGroup(host, os.getpid(), spec, held, prefix, lambda: NodeError("it panicked"))


def test_memory_is_what_the_monitor_gives_and_processors_those_it_is_pinned_to(tmp_path: Path) -> None:
    settings = group(tmp_path, 190 * MEBIBYTE).settings()
    assert (settings.memory_byte, settings.processors, settings.cpu_quota) == (190 * MEBIBYTE, (2, 3), 0.5)


def test_the_pieces_in_which_memory_is_given_are_no_difference(tmp_path: Path) -> None:
    assert group(tmp_path, 200 * MEBIBYTE + 8191).settings().memory_byte == 200 * MEBIBYTE
    assert group(tmp_path, 200 * MEBIBYTE + 8192).settings().memory_byte == 200 * MEBIBYTE + 8192


@pytest.mark.parametrize(("words", "processes"), [("352", 64), ("", None)])
def test_how_many_processes_there_may_be_the_guests_kernel_says(
    tmp_path: Path, words: str, processes: int | None
) -> None:
    asked = group(tmp_path, 1, ("sh", "-c", f"echo {words}"))
    assert asked.settings().processes is None, "nobody asked for a limit"
    bounded = replace(asked, spec=replace(asked.spec, bounds=Bounds(processes=64), processors=(0, 1)))
    assert bounded.settings().processes == processes


def test_kills_of_the_guests_kernel_and_of_the_hosts_add_up(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text(VMSTAT)
    script = ("sh", "-c", f'exec "$0" {tmp_path}/vmstat')
    assert group(tmp_path, 1, script).memory_kills() == 4


def test_a_guest_that_does_not_answer_leaves_the_hosts_count(tmp_path: Path) -> None:
    assert group(tmp_path, 1).memory_kills() == 1
    assert group(tmp_path, 1, ("/no/such/program",)).memory_kills() == 1


def test_a_machine_that_has_ended_by_itself_says_why(tmp_path: Path) -> None:
    ended = replace(group(tmp_path, 1), kernel_pid=GONE)
    assert ended.memory_kills() == 1, "the host's limit is the better reason"
    (tmp_path / "memory.events").write_text("oom_kill 0\n")
    with pytest.raises(NodeError, match=r"it panicked"):
        ended.memory_kills()


def test_a_kernel_that_does_not_count_is_not_taken_for_one_that_killed_nothing() -> None:
    assert parse_kills(VMSTAT) == 3
    assert parse_kills("nr_free_pages 100\n") is None


class TestRoute:
    SHOWN = (
        '[{"dst":"198.18.0.0/16","dev":"eth0","protocol":"kernel","scope":"link","prefsrc":"198.18.0.10",'
        '"flags":[],"metrics":[{"rto_min":5}]}]'
    )

    def test_what_ip_shows_is_read_back(self) -> None:
        assert kept_ms(self.SHOWN) == [5]
        assert kept_ms("[]") == kept_ms("") == []
        with pytest.raises(NodeError, match="ip route show prints is not understood"):
            kept_ms("Error: ...")

    def test_only_whole_milliseconds_are_asked_for(self) -> None:
        assert whole_ms(0.002) == 2
        for wrong in (0.0, 0.0015):
            with pytest.raises(NodeError, match=r"whole milliseconds"):
                whole_ms(wrong)
