# SPDX-License-Identifier: Apache-2.0
"""What a command reaches of the host from within a node, by the probe that is run there."""

import ctypes
import json
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.contract.contract_nodes import execute

from tare.nodes.provider import Node, Provider
from tare.records import User

PROBE = Path(__file__).with_name("probe_of_reach.py").read_text()
ORDINARY = User(65530, 65530)
_ADD_KEY, _USER_KEYRING, _INVALIDATE, _KEYCTL = 248, -4, 21, 250
"""keyctl(2)."""


@contextmanager
def marked_host(folder: Path) -> Iterator[Mapping[str, object]]:
    """The host with things of root's that no command should get hold of: a process, a file, a key."""
    private, words = folder / "private", ["sleep", f"{900 + secrets.randbelow(10**9) / 10**9:.9f}"]
    private.touch(mode=0o600)
    name = f"tare-test-{secrets.token_hex(4)}"
    library = ctypes.CDLL(None)
    key = library.syscall(_ADD_KEY, b"user", name.encode(), b"x", 1, _USER_KEYRING)
    process = subprocess.Popen(words)
    try:
        yield {
            "disk": Path("/var").stat().st_dev,
            "network": str(Path("/proc/self/ns/net").readlink()),
            "pid": process.pid,
            "words": "".join(f"{word}\0" for word in words),
            "file": str(private),
            "key": name,
        }
    finally:
        process.kill()
        process.wait(timeout=30)
        if key > 0:
            library.syscall(_KEYCTL, _INVALIDATE, key)


def reached(provider: Provider, node: Node, host: Mapping[str, object], user: User | None) -> list[str]:
    """What the probe gets hold of, as ``user`` or as the way into the node makes it."""
    drop = [] if user is None else [f"{node.tools_directory}/drop", "--user", str(user), "--"]
    done = execute(provider, node, *drop, "python3", "-IBc", PROBE, json.dumps(host))
    assert done.returncode == 0, done.stderr.decode()
    return list(json.loads(done.stdout))
