# SPDX-License-Identifier: Apache-2.0
"""What one check of the audit says."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """``faults`` fail the audit; ``unchecked`` says what could not be looked at here, and why."""

    subject: str
    counted: str
    faults: Sequence[str] = ()
    unchecked: str | None = None

    def lines(self) -> list[str]:
        """As printed."""
        state = "FAULT" if self.faults else "not checked" if self.unchecked else "ok"
        said = [f"{state:11}  {self.subject}: {self.counted}"]
        said += [f"             - {fault}" for fault in self.faults]
        return said + ([f"             not checked: {self.unchecked}"] if self.unchecked else [])
