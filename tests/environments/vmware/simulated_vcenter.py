# SPDX-License-Identifier: Apache-2.0
"""A vCenter of the tests' own: govmomi's simulator on the loopback, with TLS, and govc that was built beside it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import REPOSITORY

from tare.environments.vmware.govc import Govc
from tare.records import OptionValue

GOVC = REPOSITORY / "build" / "govc" / "govc"
VCSIM = REPOSITORY / "build" / "govc" / "vcsim"
PASSWORD = "a word nobody may see"  # noqa: S105 - of a simulator that ends with the tests
HOST_POOL = "/DC0/host/DC0_H0/Resources"
"""Of a host by itself."""
CLUSTER_POOL = "/DC0/host/DC0_C0/Resources"
"""Of a cluster with DRS."""
ORIGINAL = "DC0_H0_VM0"
MEGAHERTZ = 2294
"""Of its hosts."""


@dataclass(frozen=True)
class Vcenter:
    """One that runs."""

    url: str
    certificate: str
    password_file: Path

    def options(self, **changes: OptionValue) -> dict[str, OptionValue]:
        """Of an environment whose nodes are copies, made in it."""
        return {
            "url": self.url,
            "username": "user",
            "password_file": str(self.password_file),
            "ca_certificates": self.certificate,
            "govc": str(GOVC),
            "vm": ORIGINAL,
            "pool": HOST_POOL,
            "datastore": "LocalDS_0",
            **changes,
        }

    def ask(self, *words: str) -> str:
        """What govc says when it is called by hand."""
        return Govc.of(self.options()).ask(*words)


@dataclass(frozen=True)
class Watched:
    """A govc whose calls are noted."""

    program: Path

    def calls(self) -> list[list[str]]:
        return [json.loads(line) for line in self.program.with_suffix(".calls").read_text().splitlines()]


def watched_govc(folder: Path) -> Watched:
    """A program that notes its arguments and becomes govc."""
    program = folder / "watched"
    program.write_text(
        f"#!{sys.executable} -IS\nimport json, os, sys\n"
        f"with open({str(program.with_suffix('.calls'))!r}, 'a') as calls:\n"
        "    print(json.dumps(sys.argv[1:]), file=calls)\n"
        f"os.execv({str(GOVC)!r}, [{str(GOVC)!r}, *sys.argv[1:]])\n"
    )
    program.chmod(0o755)
    return Watched(program)


@contextmanager
def running_vcenter(folder: Path) -> Iterator[Vcenter]:
    """It ends when its standard input does, so with the tests, however they end."""
    password_file = folder / "password"
    password_file.touch(mode=0o600)
    password_file.write_text(PASSWORD)
    argv = [str(VCSIM), "-username", "user", "-password-file", str(password_file)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"TMPDIR": str(folder)}
    ) as process:
        assert process.stdout is not None
        url, certificate = (process.stdout.readline().strip() for _ in range(2))
        assert url.startswith("https://127.0.0.1:")
        vcenter = Vcenter(url, certificate, password_file)
        vcenter.ask("vm.power", "-off", "DC0_H0_VM0", "DC0_H0_VM1")
        yield vcenter
        process.communicate(timeout=20)
    assert process.returncode == 0
