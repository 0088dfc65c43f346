# SPDX-License-Identifier: Apache-2.0
"""Every write of a campaign fails, one by one: full disk, read-only file system, no descriptors left, broken disk.

strace(1) makes the runner's N-th system call of a kind return the error. Whatever fails: the run ends with words, the
same command completes it, each trial stands once, and no node stays.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.commands import ended
from tests.hostile.stage import Ran, Stage, staged

ERRORS = ("ENOSPC", "EROFS", "EMFILE", "EIO")
CALLS = (
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "mkdir",
    "rename",
    "unlink",
    "rmdir",
    "symlink",
    "ftruncate",
    "chmod",
)
_PROGRESS = 50
"""All cases take an hour on two processors: how far it came is said so often."""
_CALL = re.compile(r"^(\w+)\((.*)\)\s+=\s(.+)$")
_BEGUN = "/result"
"""What comes before the result's folder is the start of the interpreter and of the command line."""


@dataclass(frozen=True)
class Write:
    """The ``number``-th call of its kind in the runner, from 1."""

    call: str
    number: int
    what: str


def writes_of_a_run(stage: Stage) -> list[Write]:
    """Those of an undisturbed run that change something, from the result's first on."""
    trace = stage.folder / "trace"
    ran = _run(stage, "strace", "-y", "-o", str(trace), "-e", f"trace={','.join(CALLS)}", "-p")
    assert ran.exit_code == 0, ran.said
    return list(_writes(trace))


def _run(stage: Stage, *tracer: str) -> Ran:
    """Run or continue the campaign, in a fork: thousands of cases cost no start of an interpreter."""
    argv = ["run", str(stage.folder / "campaign.toml"), "--output", str(stage.result)]
    ran = ended(argv, tracer=tracer, variables=stage.variables(), real=True)
    return Ran(ran.code, ran.said + ran.errors)


def _writes(trace: Path) -> Iterator[Write]:
    numbers: Counter[str] = Counter()
    begun = False
    for line in trace.read_text(errors="replace").splitlines():
        called = _CALL.match(line)
        if not called:
            continue
        call, arguments = called[1], called[2]
        numbers[call] += 1
        begun = begun or _BEGUN in arguments
        if begun and (call != "openat" or re.search(r"O_WRONLY|O_RDWR|O_CREAT", arguments)):
            yield Write(call, numbers[call], arguments[:80])


def attack(stage: Stage, write: Write, error: str) -> str | None:
    """What got through; ``None``: nothing."""
    stage.begin_anew()
    inject = f"inject={write.call}:error={error}:when={write.number}"
    ran = _run(stage, "strace", "-o", "/dev/null", "-e", f"trace={write.call}", "-e", inject, "-p")
    if fault := ran.fault():
        return f"{fault}: {ran.said[-600:]}"
    again = _run(stage)
    if again.exit_code not in {0, 1} or again.fault():
        return f"cannot be continued (exit code {again.exit_code}): {again.said[-600:]}"
    lost = stage.lost()
    return "; ".join(lost) or (f"left {stage.left()}" if stage.left() else None)


def attack_some(count: int | None, seed: int, part: int = 0, parts: int = 1) -> tuple[int, list[str]]:
    """Of all writes and errors so many, drawn by the seed, or all; returns how many, and what got through.

    Of ``parts`` processes that share all, the ``part``-th takes every ``parts``-th case.
    """
    faults: list[str] = []
    with staged(blocks=1) as stage:
        cases = [(write, error) for write in writes_of_a_run(stage) for error in ERRORS]
        chosen: Sequence[tuple[Write, str]] = cases
        if count is not None and count < len(cases):
            chosen = random.Random(seed).sample(cases, count)  # noqa: S311 - a choice, not a secret
        chosen = chosen[part::parts]
        for number, (write, error) in enumerate(chosen):
            if number % _PROGRESS == 0:
                print(f"{number} of {len(chosen)} tried, {len(faults)} got through", flush=True)
            if fault := attack(stage, write, error):
                faults.append(f"{error} at {write.call} {write.number} ({write.what}): {fault}")
                print(faults[-1], flush=True)
    return len(chosen), faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, help="so many, drawn by the seed; all without it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", type=int, default=0, help="number of this process, from 0")
    parser.add_argument("--parts", type=int, default=1, help="how many processes share the cases")
    asked = parser.parse_args()
    tried, faults = attack_some(asked.count, asked.seed, asked.part, asked.parts)
    print(f"write faults: {tried} tried (seed {asked.seed}), {len(faults)} got through")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
