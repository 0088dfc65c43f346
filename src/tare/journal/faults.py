# SPDX-License-Identifier: Apache-2.0
"""What is wrong with one file of a result, collected place by place and put in words."""

from dataclasses import dataclass

from tare.records import Damage, Fault

_WORDS = {
    Fault.DAMAGED: "damaged, not used",
    Fault.ALTERED: "not as it was written, not used",
    Fault.DOUBLED: "there a second time, counted once",
    Fault.MOVED: "not in its place, used",
    Fault.FOREIGN: "written to another file, not used",
    Fault.ORPHANED: "of a session of which nothing is left, not used",
}


@dataclass(slots=True)
class _Run:
    """Consecutive lines with the same fault."""

    fault: Fault
    line: int
    lines: int = 1


class Faults:
    """The faults of one file."""

    def __init__(self, file: str) -> None:
        """``file``: its name in the result folder."""
        self._file = file
        self._runs: list[_Run] = []
        self._others: list[Damage] = []

    def line(self, fault: Fault, number: int) -> None:
        """Note a line, by its number in the present file."""
        last = self._runs[-1] if self._runs else None
        if last and last.fault is fault and last.line + last.lines == number:
            last.lines += 1
        else:
            self._runs.append(_Run(fault, number))

    def missing(self, lines: int, after: int | None) -> None:
        """Note missing lines; ``after`` is the line before them, ``None``: they were the last."""
        where = "at its end" if after is None else f"after line {after}" if after else "at its beginning"
        said = "1 line is" if lines == 1 else f"{lines} lines are"
        self.whole(Fault.REMOVED, f"{self._file}: {said} missing {where}", after, lines)

    def whole(self, fault: Fault, sentence: str, line: int | None = None, lines: int | None = None) -> None:
        """Note a fault that is not limited to single lines."""
        damage = Damage(file=self._file, fault=fault, line=line, lines=lines, sentence=sentence)
        self._others.append(damage)

    def damage(self) -> tuple[Damage, ...]:
        """All damage, by line; damage to the whole file comes last."""
        damages = [*(self._told(run) for run in self._runs), *self._others]
        return tuple(sorted(damages, key=lambda damage: (damage.line is None, damage.line or 0)))

    def _told(self, run: _Run) -> Damage:
        where = f"line {run.line}" if run.lines == 1 else f"lines {run.line} to {run.line + run.lines - 1}"
        sentence = f"{self._file}, {where}: {_WORDS[run.fault]}"
        return Damage(file=self._file, fault=run.fault, line=run.line, lines=run.lines, sentence=sentence)
