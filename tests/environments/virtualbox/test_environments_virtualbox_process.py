# SPDX-License-Identifier: Apache-2.0
"""The process that a machine is: found by its words, kept to processors, asked for its time. All on a real process."""

import os
import time
import uuid
from pathlib import Path

import pytest
from tests.environments.virtualbox.machine_process import running_machine

from tare.environments.virtualbox import machine
from tare.errors import NodeError

FIRST = min(os.sched_getaffinity(0))


def test_it_is_found_by_the_machines_identity_and_by_no_other() -> None:
    identity = str(uuid.uuid4())
    with running_machine(identity) as pid:
        assert machine.machine_process(identity) == pid
        assert machine.machine_process(str(uuid.uuid4())) is None
    assert machine.machine_process(identity) is None


def test_a_process_whose_last_word_is_the_option_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_PROCESSES", tmp_path)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cmdline").write_bytes(b"VBoxHeadless\0--startvm")
    assert machine.machine_process("") is None


def test_its_virtual_processors_are_its_emulation_threads() -> None:
    with running_machine(str(uuid.uuid4())) as pid:
        names = machine.threads(pid)
        virtual_processors = machine.virtual_processors(pid)
    assert [names[number] for number in virtual_processors] == ["EMT-0", "EMT-1"]
    assert set(names.values()) - {"EMT-0", "EMT-1"}


def test_every_thread_is_kept_to_the_processors() -> None:
    with running_machine(str(uuid.uuid4())) as pid:
        machine.keep_to(pid, (FIRST,))
        assert machine.processors_of(pid) == (FIRST,)
        for number in machine.threads(pid):
            assert os.sched_getaffinity(number) == {FIRST}


def test_processors_that_are_not_there_are_an_error_of_the_node() -> None:
    with (
        running_machine(str(uuid.uuid4())) as pid,
        pytest.raises(NodeError, match="cannot be kept to processors 4000"),
    ):
        machine.keep_to(pid, (4000,))


def test_its_time_is_the_kernels_count_of_all_its_threads() -> None:
    before = time.process_time()
    used = machine.cpu_s(os.getpid())
    assert used is not None
    assert used == pytest.approx(before, abs=0.1)
    assert used > 0


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    with running_machine(str(uuid.uuid4())) as pid:
        pass
    assert machine.cpu_s(pid) is None
    assert machine.processors_of(pid) is None
    assert machine.virtual_processors(pid) == []
