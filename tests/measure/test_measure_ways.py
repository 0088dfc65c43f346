# SPDX-License-Identifier: Apache-2.0
"""Ways into nodes: entered once, and used again as long as that is safe."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.environments.environment_example import described

from tare.environments.fake import Fake
from tare.errors import NodeError
from tare.measure.stopwatch import Command, Stopwatch, wait_all
from tare.measure.ways import Ways
from tare.nodes.provider import Node

LIMIT_S = 10.0


class Counting(Fake):
    """Counts the ways in that are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = 0

    def prefix(self, node: Node) -> list[str]:  # noqa: ARG002 - the same for every node
        self.entered += 1
        return []


@pytest.fixture
def node(programs: Path, tmp_path: Path) -> Node:
    return Node(spec=described(tmp_path), init_pid=None, tools_directory=str(programs))


@pytest.fixture
def ways() -> Iterator[Ways]:
    with Ways() as opened:
        yield opened


def command(folder: Path, *argv: str) -> Command:
    return Command(argv=argv, directory=str(folder), variables={"PATH": "/usr/bin:/bin"}, limit_s=LIMIT_S)


def run(ways: Ways, provider: Counting, node: Node, folder: Path, *argv: str) -> tuple[int, str]:
    """Exit code and output."""
    with ways.stopwatch(provider, node, command(folder, *argv), str(folder)) as stopwatch:
        stopwatch.wait_ready(LIMIT_S)
        stopwatch.go()
        (said,) = wait_all([stopwatch], LIMIT_S)
    return said["exit_code"], (folder / "stdout").read_text()


def test_one_command_after_another_takes_one_way_in(ways: Ways, node: Node, tmp_path: Path) -> None:
    provider = Counting()
    odd = "two words, a 'quote', a\nline and a tab\t."
    assert run(ways, provider, node, tmp_path, "sh", "-c", "echo one; exit 3") == (3, "one\n")
    assert run(ways, provider, node, tmp_path, "printf", "%s", odd) == (0, odd)
    assert run(ways, provider, node, tmp_path, "printf", "%s", long := "x" * 100_000) == (0, long)
    assert provider.entered == 1


def two_at_once(ways: Ways, provider: Counting, node: Node, folder: Path) -> tuple[Stopwatch, Stopwatch]:
    """Both are free again when this returns."""
    first, second = command(folder, "true"), command(folder, "true")
    with (
        ways.stopwatch(provider, node, first, str(folder)) as one_way,
        ways.stopwatch(provider, node, second, str(folder)) as other_way,
    ):
        one_way.wait_ready(LIMIT_S)
        other_way.wait_ready(LIMIT_S)
    return one_way, other_way


def test_commands_at_the_same_time_take_a_way_each(ways: Ways, node: Node, tmp_path: Path) -> None:
    provider = Counting()
    two_at_once(ways, provider, node, tmp_path)
    assert provider.entered == 2
    run(ways, provider, node, tmp_path, "true")
    assert provider.entered == 2


def test_nothing_of_one_command_is_left_for_the_next(ways: Ways, node: Node, tmp_path: Path) -> None:
    provider = Counting()
    leaver = "sleep 60 & echo $!"
    _, printed = run(ways, provider, node, tmp_path, "sh", "-c", leaver)
    _, seen = run(ways, provider, node, tmp_path, "sh", "-c", f"kill -0 {printed.strip()} 2>&1; umask; env")
    assert "No such process" in seen
    assert "leftover" not in seen
    assert provider.entered == 1


def test_a_way_with_a_command_at_work_is_closed_and_the_next_command_enters_anew(
    ways: Ways, node: Node, tmp_path: Path
) -> None:
    provider = Counting()
    with ways.stopwatch(provider, node, command(tmp_path, "sleep", "60"), str(tmp_path)) as stopwatch:
        stopwatch.wait_ready(LIMIT_S)
        stopwatch.go()
    assert run(ways, provider, node, tmp_path, "true")[0] == 0
    assert provider.entered == 2


def test_a_way_on_which_something_went_wrong_is_not_used_again(
    ways: Ways, node: Node, tmp_path: Path
) -> None:
    provider = Counting()

    def fail() -> None:
        with ways.stopwatch(provider, node, command(tmp_path, "true"), str(tmp_path)) as stopwatch:
            stopwatch.wait_ready(LIMIT_S)
            raise NodeError("as it may be")

    with pytest.raises(NodeError, match="as it may be"):
        fail()
    run(ways, provider, node, tmp_path, "true")
    assert provider.entered == 2


def test_ways_that_broke_while_they_were_free_are_left_for_a_new_one(
    ways: Ways, node: Node, tmp_path: Path
) -> None:
    provider = Counting()
    one_way, other_way = two_at_once(ways, provider, node, tmp_path)
    end(one_way)
    end(other_way)
    assert run(ways, provider, node, tmp_path, "true")[0] == 0
    assert provider.entered == 3


def end(stopwatch: Stopwatch) -> None:
    stopwatch._pipe._process.send_signal(signal.SIGKILL)
    stopwatch._pipe._process.wait(LIMIT_S)


def test_closed_ways_leave_no_process(node: Node, tmp_path: Path) -> None:
    provider = Counting()
    with Ways() as ways:
        with ways.stopwatch(provider, node, command(tmp_path, "true"), str(tmp_path)) as stopwatch:
            stopwatch.wait_ready(LIMIT_S)
        assert stopwatch._pipe._process.poll() is None
        ways.close()
        assert stopwatch._pipe._process.poll() == 0
        run(ways, provider, node, tmp_path, "true")
    assert provider.entered == 2
