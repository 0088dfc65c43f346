# SPDX-License-Identifier: Apache-2.0
"""Calls of govc, VMware's command line (its USAGE page); its environment holds the server and the user.

The password is never in an argument, where everybody on the host could read it, nor in a message.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from tare.errors import NodeError
from tare.host import process
from tare.records import OptionValue

_LIMIT_S = 60.0
_TAKEN_OVER = (
    *("GOVC_URL", "GOVC_USERNAME", "GOVC_PASSWORD", "GOVC_INSECURE", "GOVC_DATACENTER"),
    *("GOVC_TLS_CA_CERTS", "GOVC_TLS_KNOWN_HOSTS", "GOVC_CERTIFICATE", "GOVC_PRIVATE_KEY"),
)
"""Variables taken from the environment of Tare's user."""
_BY_OPTION = {
    "url": "GOVC_URL",
    "username": "GOVC_USERNAME",
    "password_file": "GOVC_PASSWORD",  # govc also accepts the name of a file, and reads it
    "ca_certificates": "GOVC_TLS_CA_CERTS",
    "known_hosts": "GOVC_TLS_KNOWN_HOSTS",
    "datacenter": "GOVC_DATACENTER",
}
_HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class Govc:
    """The program with its log-in settings."""

    program: str
    variables: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, options: Mapping[str, OptionValue]) -> "Govc":
        """Read the options; ``NodeError`` if there is no address, or if the password's file is unfit."""
        variables = {name: os.environ[name] for name in _TAKEN_OVER if name in os.environ}
        variables |= {
            variable: str(options[name]) for name, variable in _BY_OPTION.items() if name in options
        }
        if "insecure" in options:
            variables["GOVC_INSECURE"] = str(options["insecure"]).lower()
        if "GOVC_URL" not in variables:
            raise NodeError("no vCenter or ESXi is named; write the option url, or set GOVC_URL")
        if "password_file" in options:
            _check_private(Path(str(options["password_file"])))
        # A session kept for the next call would stay in the user's home, and on the server, when Tare is done.
        fixed = {
            "GOVC_PERSIST_SESSION": "false",
            "GOVC_FORMAT_ERROR": "false",
        }  # complaints as text, not as JSON
        return cls(str(options.get("govc", "govc")), {**variables, **fixed})

    def ask(self, *words: str, limit_s: float = _LIMIT_S) -> str:
        """Its output; ``NodeError`` with its complaint."""
        done = process.run([self.program, *words], timeout_s=limit_s, variables=self.variables)
        if done.code != 0:
            raise NodeError(self._without_secrets(f"govc {words[0]} failed: {done.last_words}"))
        return done.stdout

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets():
            text = text.replace(secret, _HIDDEN)
        return text

    def _secrets(self) -> list[str]:
        """The password in every form: from the environment, a file, or an address."""
        given = _read(self.variables.get("GOVC_PASSWORD", ""))
        in_url = urlsplit(self.variables["GOVC_URL"]).password or ""
        return [secret for secret in (given, quote(given, safe=""), in_url, unquote(in_url)) if secret]


def _read(password: str) -> str:
    """Like govc: the name of a file means the file's content."""
    try:
        return Path(password).read_text().strip() if password else ""
    except (OSError, ValueError):
        return password


def _check_private(path: Path) -> None:
    """Check the file: without it, govc would take its name for the password and send that."""
    try:
        status = path.stat()
        with path.open("rb"):
            pass
    except OSError as error:
        raise NodeError(f"the password cannot be read from {path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise NodeError(f"the password cannot be read from {path}: it is no file")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise NodeError(f"others may use {path}, which holds a password; chmod 600 it")
