# SPDX-License-Identifier: Apache-2.0
"""A campaign file read from disk, one of Tare's own or the user's: text, tables, and the lines of its keys."""

import difflib
import re
import stat
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from tare.errors import CampaignError
from tare.plan.problems import nearest, printable
from tare.plan.toml_lines import Path, key_lines
from tare.records.published import PUBLISHED_AGAIN
from tare.records.scaled import Scaled, Short

_PRESETS = FilePath(__file__).with_name("presets")
EARLIER_NAMES = {
    **dict.fromkeys(("b16-instances", "b17-sharing", "b17-groups", "b17-boards"), "b17"),
    **dict.fromkeys(("r15-one-host", "r15-hosts", "r15-processors", "r15-shares"), "r15"),
    "y15-one-host": "y15",
    "l12-sizes": "l12",
}
"""For one release."""
_LARGEST_BYTE = 256 * 1024
_MOST_DOTS = 100
_BETWEEN_KEYS = re.compile(r"[=\n\[\]{},]")
_TOMLLIB_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignSource:
    """A campaign file; ``label`` is its name in messages."""

    label: str
    data: dict[str, Any]
    lines: dict[Path, int]
    remarks: tuple[Scaled, ...] = ()
    """What a user of this name should know."""


def preset_names() -> tuple[str, ...]:
    return tuple(sorted({*(path.stem for path in _PRESETS.glob("*.toml")), *PUBLISHED_AGAIN}))


def is_preset(name: str) -> bool:
    """Whether it is the name of a preset, an earlier one included."""
    return name in EARLIER_NAMES or name in preset_names()


def preset_path(name: str) -> FilePath:
    """Return the file of a preset; several may have the same."""
    today = EARLIER_NAMES.get(name, name)
    return _PRESETS / f"{PUBLISHED_AGAIN.get(today, today)}.toml"


def preset_source(name: str) -> CampaignSource:
    """Read a preset; ``CampaignError`` for a name that is none."""
    if not is_preset(name):
        raise CampaignError(f"there is no preset {printable(name)!r}{nearest(name, preset_names())}")
    today = EARLIER_NAMES.get(name, name)
    source = read_source(preset_path(today), f"preset {today}")
    remarks = () if name == today else (_renamed(name, today),)
    return replace(source, data={**source.data, "name": today}, remarks=remarks)


def _renamed(name: str, today: str) -> Scaled:
    why = "the whole paper is one preset; the earlier name goes with the next release"
    return Scaled(what="preset", asked=name, here=today, why=why, short_of=Short.OTHER)


def read_source(path: FilePath, label: str | None = None) -> CampaignSource:
    """Read and parse a file; ``CampaignError`` if it is missing, unreadable, not UTF-8 or not TOML."""
    name = label or str(path)
    return parse_source(_read(path, name), name)


def parse_source(content: bytes, label: str) -> CampaignSource:
    """Parse bytes to tables; ``CampaignError`` with the byte offset or line if they are not UTF-8 or not TOML."""
    name = printable(label)
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise CampaignError(
            f"{name}:{line}: is not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}; "
            "save the file as UTF-8"
        ) from None
    # tomllib's time and memory grow with the square of a dotted key's parts
    if any(part.count(".") > _MOST_DOTS for part in _BETWEEN_KEYS.split(text)):
        raise CampaignError(f"{name}: is nested too deeply: one key has over {_MOST_DOTS} dots")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise CampaignError(f"{name}: is nested too deeply; a campaign needs three levels") from None
    except ValueError as error:  # tomllib's own error, and Python's for numbers of thousands of digits
        raise CampaignError(_not_toml(name, text, str(error))) from None
    return CampaignSource(label=label, data=data, lines=key_lines(text))


def _not_toml(name: str, text: str, message: str) -> str:
    place = _TOMLLIB_PLACE.search(message)
    said = printable(message[: place.start()] if place else message)
    line = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else None
    where = f"{name}:{line}" if line else name
    column = f" (column {place[2]})" if place and place[2] else " (at the end)" if place else ""
    return f"{where}: is not TOML: {said}{column}"


def _read(path: FilePath, name: str) -> bytes:
    shown = printable(name)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise CampaignError(f"{shown}: is a directory; give a campaign file or a preset")
        if not stat.S_ISREG(mode):
            raise CampaignError(f"{shown}: is not a regular file; give a campaign file or a preset")
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTE + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise CampaignError(f"{shown}: there is no such file{_similar(path)}") from None
    except OSError as error:
        raise CampaignError(f"{shown}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise CampaignError(f"{shown}: no file can have this name") from None
    if len(content) > _LARGEST_BYTE:
        raise CampaignError(f"{shown}: is larger than 256 KiB, so it is no campaign file")
    return content


def _similar(path: FilePath) -> str:
    """Suggest a campaign file beside it or a preset, by the nearest name."""
    try:
        names = sorted(entry.name for entry in path.parent.iterdir() if entry.suffix == ".toml")
    except OSError:
        names = []
    close = difflib.get_close_matches(path.name, [*names, *preset_names()], n=1)
    return f"; did you mean {printable(close[0])!r}?" if close else f"; presets: {', '.join(preset_names())}"
