# SPDX-License-Identifier: Apache-2.0
"""What environments of a hypervisor's machines share: options, waiting, where limits hold."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.environments.environment_example import described
from tests.environments.managed.sleeping_machine import SleepingMachine

from tare.environments.managed.machine import wait_for
from tare.environments.managed.options import (
    far_options,
    inside_complaints,
    machine_memory_byte,
    one_of,
)
from tare.environments.managed.provider import ManagedMachineGroup
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.records import OptionValue

MEBIBYTE = 1 << 20


class TestOptions:
    def test_what_is_not_said_is_right(self) -> None:
        assert inside_complaints({}) == {}
        assert inside_complaints({"host": ["root@a", "root@b"], "below": "docker", "pinned": False}) == {}

    @pytest.mark.parametrize(
        ("options", "name"),
        [
            ({"boot_limit": 0}, "boot_limit"),
            ({"boot_limit": "1"}, "boot_limit"),
            ({"boot_limit": True}, "boot_limit"),
            ({"system_memory": 63}, "system_memory"),
            ({"pinned": "no"}, "pinned"),
            ({"host": "-oProxyCommand=x"}, "host"),
            ({"below_options": ["storage=own"], "below": "native"}, "below_options"),
        ],
    )
    def test_what_is_wrong_is_named(self, options: dict[str, OptionValue], name: str) -> None:
        assert list(inside_complaints(options)) == [name]

    def test_a_machine_is_reached_as_root_at_its_address_unless_the_user_says_how(self) -> None:
        assert far_options({"domain": "a", "below": "lxc"}, "10.0.0.7") == {
            "host": "root@10.0.0.7",
            "below": "lxc",
        }
        assert far_options({"host": "me@a", "become": ["sudo", "-n"]}, "10.0.0.7") == {
            "host": "me@a",
            "become": ["sudo", "-n"],
        }

    def test_nodes_take_turns_with_what_is_a_list(self) -> None:
        assert [one_of(["a", "b"], index) for index in range(3)] == ["a", "b", "a"]
        assert one_of("a", 5) == "a"

    def test_the_machine_gets_more_memory_than_its_node_in_whole_mebibytes(self) -> None:
        assert machine_memory_byte({}, 100 * MEBIBYTE) == 612 * MEBIBYTE
        assert machine_memory_byte({"system_memory": 64}, 100 * MEBIBYTE + 1) == 165 * MEBIBYTE


class TestWaiting:
    def test_the_first_answer_ends_it(self) -> None:
        answers = iter([None, False, 0, "there", "later"])
        assert wait_for(lambda: next(answers), 5, "an answer", pause_s=0) == "there"

    def test_the_limit_names_what_did_not_come(self) -> None:
        asked = itertools.count()
        with pytest.raises(NodeError, match="the address did not come within 0 s"):
            wait_for(lambda: next(asked) and None, 0, "the address", pause_s=0.01)
        assert next(asked) >= 1


@dataclass
class Inside:
    """A control group in the machine."""

    processors: tuple[int, ...]
    memory_byte: int

    def settings(self) -> Settings:
        return Settings(processors=self.processors, memory_byte=self.memory_byte, cpu_quota=None)

    def cpu_s(self) -> float | None:
        return 99.0

    def memory_kills(self) -> int | None:
        return 2

    def refused_processes(self) -> int | None:
        return 3

    def lacks(self, inner_pid: int) -> list[str] | None:
        return [] if inner_pid == 1 else None


class TestGroup:
    def group(self, folder: Path, held: Settings, **options: OptionValue) -> ManagedMachineGroup:
        """Of a node on the processors 0, 2 and 3 with 512 MiB."""
        machine = SleepingMachine(described(folder, options=options))
        machine.held = held
        return ManagedMachineGroup(machine, Inside((0, 1, 2), 512 * MEBIBYTE))

    def test_the_hypervisor_tells_processors_and_quota_and_the_machine_its_nodes_memory(
        self, tmp_path: Path
    ) -> None:
        held = Settings(processors=(0, 2, 3), memory_byte=1024 * MEBIBYTE, cpu_quota=0.5)
        group = self.group(tmp_path, held)
        assert group.settings() == Settings(processors=(0, 2, 3), memory_byte=512 * MEBIBYTE, cpu_quota=0.5)
        assert (group.memory_kills(), group.lacks(1), group.lacks(2)) == (2, [], None)

    def test_cpu_time_is_the_hypervisors_or_missing_and_never_the_machines_own(self, tmp_path: Path) -> None:
        held = Settings(processors=(0, 2, 3), memory_byte=1024 * MEBIBYTE, cpu_quota=None)
        assert self.group(tmp_path, held).cpu_s() is None

    def test_an_affinity_that_was_not_set_is_not_taken_for_one(self, tmp_path: Path) -> None:
        held = Settings(processors=None, memory_byte=1024 * MEBIBYTE, cpu_quota=None)
        assert self.group(tmp_path, held).settings().processors is None
        assert self.group(tmp_path, held, pinned=False).settings().processors == (0, 2, 3)

    def test_a_machine_with_other_memory_than_promised_is_an_error(self, tmp_path: Path) -> None:
        held = Settings(processors=(0, 2, 3), memory_byte=1023 * MEBIBYTE, cpu_quota=None)
        with pytest.raises(NodeError, match="byte of memory, and has"):
            self.group(tmp_path, held).settings()

    def test_a_machine_with_another_number_of_processors_is_an_error(self, tmp_path: Path) -> None:
        held = Settings(processors=(0, 2, 3), memory_byte=1024 * MEBIBYTE, cpu_quota=None)
        group = self.group(tmp_path, held)
        wrong = ManagedMachineGroup(group.machine, Inside((0, 1), 512 * MEBIBYTE))
        with pytest.raises(NodeError, match="should have the processors"):
            wrong.settings()
