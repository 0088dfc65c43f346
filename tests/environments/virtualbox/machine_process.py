# SPDX-License-Identifier: Apache-2.0
"""A process that looks like a machine of VirtualBox's: its words, and threads with the names of emulation threads."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PROGRAM = """\
import sys, threading
end = threading.Event()
named = []
def run(name):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as comm:
        comm.write(name)
    named.append(name)
    end.wait()
threads = [threading.Thread(target=run, args=(name,)) for name in ("EMT-0", "EMT-1", "Timer")]
for thread in threads:
    thread.start()
while len(named) < 3:
    pass
print("ready", flush=True)
sys.stdin.read()
end.set()
"""


@contextmanager
def running_machine(identity: str) -> Iterator[int]:
    """The process id; it ends when nobody holds its input any more."""
    words = ["--comment", "any", "--startvm", identity, "--vrde", "config"]
    with subprocess.Popen(
        [sys.executable, "-IS", "-c", _PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
