# SPDX-License-Identifier: Apache-2.0
"""How an image wants its commands to be run: variables, directory, entry point, user.

The image may be hostile: its configuration is text from outside, checked key by key. Source: OCI image-spec 1.1,
config.md, whose keys ``docker save`` shares.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from tare.errors import InputError
from tare.foreign import one_line
from tare.image.limits import shown
from tare.nodes.files import opened_inside
from tare.records import User

_NAME = re.compile(r"[^=\0]+")
"""Of a variable: more than a shell allows, as in environ(7); some images have names with dots."""
_MOST = 1000
"""Variables, words or labels."""
_LONGEST = 32_768
"""Characters of one value: a quarter of what execve(2) takes for one string."""
_PASSWD_BYTE = 1 << 20
_LAST_ID = 2**32 - 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """What an image states about its commands; empty where it states nothing."""

    variables: Mapping[str, str] = field(default_factory=dict)
    directory: str | None = None
    """Absolute, inside the image."""
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    """The usual arguments of the entry point, or the whole command."""
    user: str = ""
    """As written: a name or number, with a group behind a colon."""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, document: object) -> Self:
        """Read an image's configuration; ``InputError`` for values that no command can be given."""
        said = document.get("config") if isinstance(document, Mapping) else None
        own = said if isinstance(said, Mapping) else {}
        return cls(
            variables=_variables(own.get("Env")),
            directory=_directory(own.get("WorkingDir")),
            entrypoint=_words("ENTRYPOINT", own.get("Entrypoint")),
            command=_words("CMD", own.get("Cmd")),
            user=_text("USER", own.get("User") or ""),
            labels=_labels(own.get("Labels")),
        )

    @classmethod
    def kept(cls, manifest: Mapping[str, Any]) -> Self:
        """From an image's manifest; empty for an image that has none."""
        said = manifest.get("config")
        if not isinstance(said, Mapping):
            return cls()
        return cls(**{**said, "entrypoint": tuple(said["entrypoint"]), "command": tuple(said["command"])})

    def facts(self) -> dict[str, Any]:
        """For a manifest; empty if the image states nothing."""
        return {"config": asdict(self)} if self != type(self)() else {}


def _refused(key: str, value: object) -> InputError:
    return InputError(f"The image's configuration is refused: {key} is {shown(str(value))}.")


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or "\0" in value or len(value) > _LONGEST:
        raise _refused(key, value)
    return value


def _words(key: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > _MOST:
        raise _refused(key, value)
    return tuple(_text(key, word) for word in value)


def _variables(value: object) -> dict[str, str]:
    variables = {}
    for entry in _words("ENV", value):
        name, separator, text = entry.partition("=")
        if not separator or not _NAME.fullmatch(name):
            raise _refused("ENV", entry)
        variables[name] = text
    return variables


def _directory(value: object) -> str | None:
    if not value:
        return None
    directory = _text("WORKDIR", value)
    if not directory.startswith("/"):
        raise _refused("WORKDIR", directory)
    return directory


def _labels(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > _MOST:
        raise _refused("labels", value)
    return {_text("a label", name): _text(f"the label {name}", text) for name, text in value.items()}


def home_of(user: str, root: Path) -> str | None:
    """The home directory of a ``USER``, by the image's own passwd(5), which container engines set; else ``None``."""
    name = user.partition(":")[0]
    entries = _entries(root, "etc/passwd", 4)
    own = (fields[5] for fields in entries if name and name in (fields[0], fields[2]) and len(fields) > 5)  # noqa: PLR2004 - passwd(5)
    return next((home for home in own if home.startswith("/") and "\0" not in home), None)


def resolved_user(user: str, root: Path) -> User | None:
    """The ids of a ``USER``, by the image's own passwd(5) and group(5); ``None`` for none stated, and for root.

    ``InputError`` for a name that the image does not know.
    """
    name, _, group = user.partition(":")
    if not name:
        return None
    if name.isdecimal():
        uid, gid = int(name), _group_of_uid(int(name), root)
    else:
        entry = next((fields for fields in _entries(root, "etc/passwd", 4) if fields[0] == name), None)
        if entry is None:
            raise InputError(
                f"The image's USER {one_line(name)!r} is not in its /etc/passwd; choose a user with --as UID:GID."
            )
        uid, gid = int(entry[2]), int(entry[3])
    if group:
        gid = _group_id(group, root)
    if not (0 <= uid <= _LAST_ID and 0 <= gid <= _LAST_ID):
        raise InputError(f"The image's USER {one_line(user)!r} is no user; choose one with --as UID:GID.")
    return None if uid == 0 else User(uid, gid)


def _group_of_uid(uid: int, root: Path) -> int:
    """As container engines do it: the group of a user known to the image, else root's."""
    own = (int(fields[3]) for fields in _entries(root, "etc/passwd", 4) if fields[2] == str(uid))
    return next(own, 0)


def _group_id(group: str, root: Path) -> int:
    if group.isdecimal():
        return int(group)
    own = (int(fields[2]) for fields in _entries(root, "etc/group", 3) if fields[0] == group)
    gid = next(own, None)
    if gid is None:
        raise InputError(
            f"The image's group {one_line(group)!r} is not in its /etc/group; choose a user with --as UID:GID."
        )
    return gid


def _entries(root: Path, name: str, fields: int) -> list[list[str]]:
    """The well-formed lines of a colon-separated file of the image, whose numbers are numbers."""
    with opened_inside(root, name) as opened:
        text = "" if opened is None else opened.read(_PASSWD_BYTE).decode(errors="replace")
    lines = (line.split(":") for line in text.splitlines())
    return [
        line for line in lines if len(line) >= fields and all(part.isdecimal() for part in line[2:fields])
    ]
