# SPDX-License-Identifier: Apache-2.0
"""Which image a command is run in; one that is missing is made.

Without a name it is ``default``, of Debian's packages, if it is there or can be made; else ``host``, of this host's
own files. A program of this host that lacks something in ``default`` runs in ``host`` too.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare.commands.image import print_image, progress, used_image
from tare.errors import ExitCode, HostError, ImageError, InputError, LockedError
from tare.foreign import one_line
from tare.image.store import DEFAULT_NAME, HOST_NAME, Image, find_image
from tare.journal.reader import Reading
from tare.journal.result import ResultFolder
from tare.records import Session
from tare.units import format_byte, format_duration

if TYPE_CHECKING:
    from tare.image.tool import Progress

DEBIAN = "debian"
WAYS = (DEBIAN, "host", "dnf", "zypper", "pacman", "apk")
"""What ``tare image build --from`` takes."""


def run_build(name: str | None, as_json: bool, *, way: str | None = None, refresh: bool = False) -> ExitCode:
    """``tare image build``: the image ``name`` by a ``way``, the usual ones without either."""
    print_image(built_image(name, way, progress, refresh=refresh), as_json)
    return ExitCode.DONE


def built_image(name: str | None, way: str | None, say: "Progress", *, refresh: bool = False) -> Image:
    """The image that a way makes: of ``debian`` the current one, unless ``refresh``; of the others always anew."""
    from tare.image.build import build_image
    from tare.image.from_distribution import build_distribution_image
    from tare.image.host_image import build_host_image
    from tare.plan.problems import nearest

    if way is not None and way not in WAYS:
        raise InputError(f"--from: {way!r} is none of {', '.join(WAYS)}{nearest(way, WAYS)}")
    way = way or _usual_way(name or DEFAULT_NAME, say)
    if way == DEBIAN:
        return build_image(name or DEFAULT_NAME, progress=say, refresh=refresh)
    if way == HOST_NAME:
        return build_host_image(name or HOST_NAME, say)
    return build_distribution_image(way, say, name or DEFAULT_NAME)


def _usual_way(name: str, say: "Progress") -> str:
    """Debian's packages where they can be had, or were; else this host's files."""
    from tare.image.debian import why_not

    if _is_there(name) or (why := why_not()) is None:
        return DEBIAN
    say(
        f"{why}, so the image is made of this host's own files: it has no MPI and no benchmarks (--from says how else)"
    )
    return HOST_NAME


def image_to_use(asked: str, *, make: bool = True) -> str:
    """The name of the image to use: of a source (``used_image``), or, unless ``make`` is off, a usual one made now."""
    usual = asked in {DEFAULT_NAME, HOST_NAME}
    return _usual_image(asked) if usual and make else used_image(asked)


def image_to_go_on(asked: str, begun: ResultFolder) -> str:
    """The image of a result that is continued or repeated: its own, as it is, unless another is asked for."""
    if asked == DEFAULT_NAME and begun.exists():
        sessions = (record for record in Reading(begun.journal).records() if isinstance(record, Session))
        session = next(sessions, None)
        if session is not None and _is_there(session.image_name):
            return session.image_name
    return image_to_use(asked)


def image_of_command(asked: str, words: Sequence[str], bound: Sequence[Path]) -> str:
    """The same, and one in which a program of this host finds what it needs, unless another was asked for.

    ``bound``: the directories of this host that the command sees.
    """
    from tare.image.host_image import has_command, host_image, missing, path_of

    name = image_to_use(asked)
    if asked not in {DEFAULT_NAME, HOST_NAME}:
        return name
    program, image = path_of(words[0]), find_image(name)
    if program is None or ("/" not in words[0] and has_command(image, words[0])):
        return name
    lacking = missing(image, program, bound)
    if not lacking:
        return name
    chosen = _timed(lambda: host_image(progress, program, bound))
    if chosen.name != name:
        what = "it" if lacking == [program] else one_line(lacking[0])
        progress(
            f"{one_line(words[0])} runs in the image {chosen.name}, of this host's files: {name} lacks {what}"
        )
    return chosen.name


def _usual_image(asked: str) -> str:
    from tare.image.debian import why_not
    from tare.image.host_image import host_image

    if asked == DEFAULT_NAME:
        if _is_there(DEFAULT_NAME):
            return DEFAULT_NAME
        if why_not() is None and (made := _debian_image()) is not None:
            return made.name
    if not _is_there(HOST_NAME):
        why = why_not() or "Debian's packages cannot be had"
        progress(f"{why}: an image of this host's own files is made, which takes some seconds and 100 MiB")
    return _timed(lambda: host_image(progress)).name


def _debian_image() -> Image | None:
    """Made of Debian's packages; ``None`` where they could not be fetched."""
    from tare.image.build import build_image

    progress(
        "there is no image yet: one of Debian's packages is made once, which takes some minutes and 300 MiB"
    )
    try:
        return _timed(lambda: build_image(progress=progress))
    except LockedError:
        raise
    except (ImageError, HostError) as error:
        progress(f"that did not work, so this host's own files are taken: {str(error).splitlines()[0]}")
        return None


def _timed(make: Callable[[], Image]) -> Image:
    """Make or find it; if that took time, say how long and how large it is."""
    began_s = time.monotonic()
    image = make()
    if (took_s := time.monotonic() - began_s) > 1:
        size_byte = image.manifest.get("size_byte")
        size = f", {format_byte(size_byte)}" if isinstance(size_byte, int) else ""
        progress(f"the image {image.name} is ready: {format_duration(took_s)}{size}")
    return image


def _is_there(name: str) -> bool:
    try:
        find_image(name)
    except ImageError:
        return False
    return True
