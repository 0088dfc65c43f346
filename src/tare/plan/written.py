# SPDX-License-Identifier: Apache-2.0
"""Values as a campaign file writes them: durations, sizes, and host directories that every node mounts."""

import math
from collections.abc import Callable
from pathlib import Path

from tare.nodes.devices import check_asked, find_devices
from tare.nodes.provider import WORK_DIRECTORY, Bind
from tare.plan.problems import shown
from tare.units import parse_duration_s

_HIDING = (
    *("/", "/bin", "/dev", "/etc", "/lib", "/lib64", "/mnt"),
    *("/opt", "/proc", "/run", "/sbin", "/sys", "/usr"),
)
"""A bind of one of these would hide the image's own directory, and other binaries would run."""
_MILLISECOND_S = 0.001
_LONGEST_S = 366 * 24 * 3600.0


def normal_bind(text: str) -> str:
    """The absolute path and its mode, as campaigns store it; the ``ValueError`` says what is wrong."""
    path, separator, mode = text.rpartition(":")
    if not separator:
        path, mode = text, "ro"
    if mode not in {"ro", "rw"} or not path:
        raise ValueError(f"{text!r}: write DIR, DIR:ro or DIR:rw")
    resolved = Path(path).resolve()
    if not resolved.is_dir():
        raise ValueError(f"there is no directory {path!r} on this host")
    if ":" in str(resolved) or "\n" in str(resolved):
        raise ValueError(
            f"{path!r} has a colon or a line break in its name, which some environments cannot bind"
        )
    if str(resolved) in {*_HIDING, WORK_DIRECTORY}:
        raise ValueError(f"{path!r} would hide the image's own; bind the folders that the command needs")
    return f"{resolved}:{mode}"


def normal_device(text: str) -> str:
    """A kind of device, or a device's path; the ``ValueError`` says what is wrong with it."""
    return check_asked(text)


def device_here(text: str) -> str:
    """The same; the ``ValueError`` also says that this host has none."""
    find_devices(text)
    return normal_device(text)


def parse_bind(kept: str) -> Bind:
    """Parse the result of ``normal_bind``."""
    path, _, mode = kept.rpartition(":")
    return Bind(path=Path(path), writable=mode == "rw")


def text_of(value: object, example: str) -> str:
    if not isinstance(value, str):
        raise ValueError(  # noqa: TRY004 - pydantic turns only ValueError into a finding
            f'must be text such as "{example}", but is {shown(value)}'
        )
    return value


def quantity(parse: Callable[[str], float], example: str) -> Callable[[object], float]:
    def validate(value: object) -> float:
        text = text_of(value, example)
        try:
            number = parse(text)
        except OverflowError:
            number = math.inf
        except ValueError as error:
            raise ValueError(_shortened(str(error))) from None
        if not number > 0:
            raise ValueError(f"{shown(text)} must be more than 0")
        return number

    return validate


def _shortened(message: str) -> str:
    longest = 160
    return message if len(message) <= longest else f"{message[:longest]}..."


def duration_s(value: object) -> float:
    duration_s = quantity(parse_duration_s, "10m")(value)
    if duration_s > _LONGEST_S:
        raise ValueError(f"{shown(value)} is more than a year")
    return duration_s


def whole_ms(value: object) -> float:
    """Require whole milliseconds, the kernel's unit of a route's minimum retransmission timeout (ip-route(8))."""
    length_s = duration_s(value)
    if length_s < _MILLISECOND_S or not math.isclose(length_s * 1000, round(length_s * 1000)):
        raise ValueError(f"{shown(value)} is no whole number of milliseconds, which the kernel counts in")
    return length_s
