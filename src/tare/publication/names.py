# SPDX-License-Identifier: Apache-2.0
"""What of a result would say who measured it and where, with a placeholder for each: the same name, the same one."""

import getpass
import ipaddress
import os
import pwd
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tare.untrusted import is_address

_SYSTEM_USERS_BELOW = 1000
_SYSTEM_USERS = {"root", "nobody", "daemon", "systemd", "www-data", "messagebus"}
_KEPT_HOST = re.compile(r"slurm-\d+|here|localhost")
"""Names that Tare gives to hosts itself."""
_PATH = re.compile(r"(?:(?<![\w./~$}@-])(?<!:/)|(?<=\s-[IL])|(?<=file://))/(?:[\w.+@%~-]+/)+[\w.+@%~-]*")
_SYSTEM_FOLDERS = frozenset(
    (
        "bin",
        "boot",
        "dev",
        "etc",
        "lib",
        "lib32",
        "lib64",
        "opt",
        "proc",
        "run",
        "sbin",
        "sys",
        "usr",
        "var",
        "nix",
    )
)
"""Paths in them say nothing about who works on a host."""
_ADDRESS = re.compile(
    r"(?<![\w.:-])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F.:]*)(?![\w:-]|\.\w)"
)
_NOBODYS = tuple(map(ipaddress.ip_network, ("198.18.0.0/15", "192.0.2.0/24", "2001:db8::/32")))
"""Of Tare's own bridges (RFC 2544), and placeholders (RFC 5737, RFC 3849)."""
_HARDWARE = re.compile(r"\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b")
_MOST_ADDRESSES = 254


def own_hosts() -> set[str]:
    """The names of the host on which this runs."""
    name = os.uname().nodename
    return {name, name.partition(".")[0]} - {"localhost", ""}


def own_users() -> set[str]:
    """The user, and under sudo(8) the one who called it."""
    names = {os.environ.get("SUDO_USER", "")}
    try:
        names.add(getpass.getuser())
    except (KeyError, OSError):  # a user without a name
        names.discard("")
    return {name for name in names if name and not is_system_user(name)}


def is_system_user(name: str) -> bool:
    if name in _SYSTEM_USERS:
        return True
    try:
        return pwd.getpwnam(name).pw_uid < _SYSTEM_USERS_BELOW
    except KeyError:
        return False


class Names:
    """Hides names in texts and in the values of JSON; ``hidden`` remembers what stands for what."""

    def __init__(
        self,
        hosts: Iterable[str],
        users: Iterable[str],
        kept: Iterable[str] = (),
        folders: Iterable[str] = (),
    ) -> None:
        """``kept``: words of the result itself, such as a workload's name, which no host or user may change.

        ``folders``: what is below them keeps its place there; of any other path only the last name stays.
        """
        kept = set(kept)
        self.hidden: dict[str, str] = {}
        """Real → placeholder, as they were met."""
        self.left = sorted((set(hosts) | set(users)) & kept)
        """Names that stay, because the result calls something of its own so."""
        self._kinds = {
            **{name: "user" for name in sorted(users) if name not in kept},
            **{name: "host" for name in _with_short(hosts) if name not in kept},
        }
        words = sorted(self._kinds, key=len, reverse=True)
        self._words = (
            re.compile(
                rf"(?<![a-z0-9])({'|'.join(map(re.escape, words))})(?:\.[a-z][a-z0-9-]*)*(?![a-z0-9])",
                re.IGNORECASE | re.ASCII,
            )
            if words
            else None
        )
        """A name in any case, also as a part of a longer word, and a host's with its domain."""
        self._kinds = {name.lower(): kind for name, kind in self._kinds.items()}
        self._spelled: dict[str, str] = {}
        """In lower case → as it was met first."""
        own = sorted({*folders, str(Path.home()), str(Path.cwd())} - {"/"}, key=len, reverse=True)
        own = [folder for folder in own if _is_foreign(folder)]
        self._folders = (
            re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, own))})(?![\w.-])") if own else None
        )

    def text(self, text: str) -> str:
        """The text with placeholders; itself where there is nothing to hide."""
        if self._folders is not None:
            text = self._folders.sub(lambda match: self._placeholder(match[0], "folder"), text)
        text = _PATH.sub(lambda match: self._path(match[0]), text)
        text = _ADDRESS.sub(lambda match: self._address(match[0]), text)
        text = _HARDWARE.sub(lambda match: self._placeholder(match[0], "interface"), text)
        if self._words is None:
            return text
        return self._words.sub(self._word, text)

    def value(self, value: Any) -> Any:
        """The same JSON with placeholders, in keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, Mapping):
            return {self.text(name): self.value(inner) for name, inner in value.items()}
        return value

    def seen_in(self, text: str) -> list[str]:
        """The hidden names that a text still holds."""
        return sorted({match[0] for match in self._words.finditer(text)}) if self._words else []

    def _word(self, match: re.Match[str]) -> str:
        real = self._spelled.setdefault(match[0].lower(), match[0])
        return self._placeholder(real, self._kinds[match[1].lower()])

    def _path(self, path: str) -> str:
        """A path outside the system's folders keeps its last name alone."""
        if not _is_foreign(path):
            return path
        folder, _, name = path.rstrip("/").rpartition("/")
        return f"{self._placeholder(folder, 'folder')}/{name}"

    def _address(self, text: str) -> str:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return text
        if address.is_loopback or address.is_unspecified or any(address in network for network in _NOBODYS):
            return text
        if text not in self.hidden:
            number = sum(_ADDRESS.fullmatch(each) is not None for each in self.hidden) % _MOST_ADDRESSES + 1
            self.hidden[text] = f"192.0.2.{number}" if address.version == 4 else f"2001:db8::{number:x}"  # noqa: PLR2004 - IPv4
        return self.hidden[text]

    def _placeholder(self, real: str, kind: str) -> str:
        if kind == "host" and _KEPT_HOST.fullmatch(real):
            return real
        if real not in self.hidden:
            number = sum(each.lstrip("/").startswith(f"{kind}-") for each in self.hidden.values()) + 1
            self.hidden[real] = f"{'/' if kind == 'folder' else ''}{kind}-{number}"
        return self.hidden[real]


def _with_short(hosts: Iterable[str]) -> list[str]:
    """Each with its first label, which facts and messages may name alone."""
    names = {name for host in hosts for name in (host, host.partition(".")[0])}
    return sorted(name for name in names if name and not is_address(name) and not _KEPT_HOST.fullmatch(name))


def _is_foreign(path: str) -> bool:
    """Whether it is outside the system's folders, and no placeholder."""
    top = path.split("/")[1]
    return top not in _SYSTEM_FOLDERS and not re.fullmatch(r"folder-\d+", top)
