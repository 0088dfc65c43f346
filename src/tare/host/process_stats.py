# SPDX-License-Identifier: Apache-2.0
"""The text of /proc/PID/stat (proc(5)) of all processes, read repeatedly.

Opening and closing a file takes longer than reading it, so they stay open until ``close``, over thousands of trials. A
descriptor stays its process's: once the process has ended, it cannot be read, even if its number is reused.
"""

import os

from tare.host.kernel_files import read_bytes

MOST_HELD = 256
"""A host may have more processes than a program may have files open, mostly 1024."""
_MOST_BYTE = 4096


class ProcessStats:
    """The processes below ``root``, which is /proc."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = root
        self._held: dict[str, int] = {}

    def texts(self) -> dict[int, bytes]:
        """Process → its text now; one that ends meanwhile is left out."""
        names = list(filter(str.isdigit, os.listdir(self._root)))  # noqa: PTH208 - a third of what Path costs
        for ended in self._held.keys() - names:
            os.close(self._held.pop(ended))
        texts = ((name, self._held_text(name) or self._new_text(name)) for name in names)
        return {int(name): text for name, text in texts if text}

    def _held_text(self, name: str) -> bytes | None:
        try:
            return os.pread(self._held[name], _MOST_BYTE, 0)
        except (KeyError, OSError):
            return None

    def close(self) -> None:
        while self._held:
            os.close(self._held.popitem()[1])

    def __del__(self) -> None:
        self.close()

    def _new_text(self, name: str) -> bytes | None:
        """The text of a new process, perhaps with the number of an ended one."""
        if name in self._held:
            os.close(self._held.pop(name))
        path = f"{self._root}/{name}/stat"
        if len(self._held) >= MOST_HELD:
            return read_bytes(path)
        try:
            self._held[name] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._held[name], _MOST_BYTE, 0)
        except OSError:
            return None
