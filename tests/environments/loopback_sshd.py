# SPDX-License-Identifier: Apache-2.0
"""An sshd of a test's own on the loopback, with keys and a configuration of its own."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.host import network_namespace
from tare.records import OptionValue

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
_PRIVILEGE_SEPARATION = Path("/run/sshd")
"""Where sshd locks its unprivileged part in (sshd(8)); a system's service makes it, here it stays for the next sshd."""
_LOOPBACK = "127.0.0.1"
_CONFIGURATION = """\
ListenAddress {address}:{port}
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/user_key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PrintMotd no
"""


@dataclass(frozen=True)
class Sshd:
    """One that runs; ``options`` are the words with which ssh reaches it."""

    folder: Path
    port: int
    address: str = _LOOPBACK

    @property
    def options(self) -> list[str]:
        words = ["-F", "none", "-p", str(self.port), "-i", f"{self.folder}/user_key"]
        settings = (
            f"UserKnownHostsFile={self.folder}/known_hosts",
            "IdentitiesOnly=yes",
            "IdentityAgent=none",
        )
        return words + [word for setting in settings for word in ("-o", setting)]

    def reach(self, state: Path, **options: OptionValue) -> dict[str, OptionValue]:
        """The options of an ``ssh`` environment on it."""
        return {"host": self.address, "ssh_options": self.options, "state": str(state), **options}

    def know(self, key: str) -> None:
        """Have this public key be the one that the user knows of the host."""
        (self.folder / "known_hosts").write_text(f"[{self.address}]:{self.port} {key}")


def make_key(path: Path) -> str:
    """A new pair; returns the public one."""
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "tare-test", "-f", str(path)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=30)
    return path.with_suffix(".pub").read_text()


@contextmanager
def running_sshd(
    folder: Path,
    *further_lines: str,
    address: str = _LOOPBACK,
    namespace: Path | None = None,
    before: Sequence[str] = (),
) -> Iterator[Sshd]:
    """With these lines more in its configuration; in the network namespace that a file holds, if one is given.

    ``before``: the words before its own that start it.
    """
    assert SSHD is not None, "apt-get install openssh-server"
    folder.mkdir()
    host_key = make_key(folder / "host_key")
    make_key(folder / "user_key")
    port = _free_port()
    configuration = _CONFIGURATION.format(folder=folder, port=port, address=address)
    (folder / "sshd_config").write_text(configuration + "".join(f"{line}\n" for line in further_lines))
    _PRIVILEGE_SEPARATION.mkdir(exist_ok=True, mode=0o755)
    enter = [] if namespace is None else ["nsenter", f"--net={namespace}"]
    argv = [*enter, *before, SSHD, "-D", "-e", "-f", str(folder / "sshd_config")]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={"PATH": os.environ["PATH"]}
        ) as process,
    ):
        try:
            sshd = Sshd(folder, port, address)
            if namespace is None:
                _wait_until_it_listens(sshd)
            else:
                network_namespace.inside(namespace, lambda: _wait_until_it_listens(sshd))
            sshd.know(host_key)
            yield sshd
        finally:
            process.terminate()
            process.wait(timeout=20)


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


def _wait_until_it_listens(sshd: Sshd) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection((sshd.address, sshd.port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, (sshd.folder / "log").read_text()
            time.sleep(0.02)
        else:
            return
