# SPDX-License-Identifier: Apache-2.0
"""strace's table is read whole, or refused."""

from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.measure.strace import parse_calls

OUTPUTS = Path(__file__).resolve().parents[1] / "outputs" / "calls"
HEAD = "syscall              calls    errors\n---------------- --------- ---------\n"


def recorded(name: str) -> str:
    return (OUTPUTS / name).read_text()


def test_all_calls_and_all_failures_are_counted() -> None:
    made, failed = parse_calls(recorded("messages-docker.txt"))
    assert (sum(made.values()), sum(failed.values())) == (29814, 5425)
    assert made["process_vm_readv"] == failed["process_vm_readv"] == 4645


def test_a_call_that_never_failed_is_not_among_the_failed() -> None:
    made, failed = parse_calls(recorded("messages-docker.txt"))
    assert made["write"] == 7796
    assert "write" not in failed


def test_calls_of_programs_of_32_and_of_64_bits_are_added_up() -> None:
    made, failed = parse_calls(recorded("two-modes.txt"))
    assert (made["getppid"], made["close"]) == (1 + 3, 28 + 1)
    assert failed["close"] == 1
    assert sum(made.values()) == 226 + 4


@pytest.mark.parametrize("text", [recorded("cut-short.txt"), "", HEAD, f"{HEAD}read  3  1\ntotal  4  1\n"])
def test_a_table_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(NodeError, match="table of system calls"):
        parse_calls(text)


@pytest.mark.parametrize("line", ["strace: out of memory", "read", "read 1 2 3", "read -1", "read one"])
def test_a_line_that_is_no_row_is_refused(line: str) -> None:
    with pytest.raises(NodeError, match="a line that is none"):
        parse_calls(f"{HEAD}{line}\ntotal  4  1\n")
