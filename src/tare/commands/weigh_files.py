# SPDX-License-Identifier: Apache-2.0
"""The options of ``tare weigh``, and which files of this host its command sees."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tare.errors import InputError
from tare.foreign import one_line
from tare.plan.campaign import Campaign
from tare.plan.written import normal_bind, parse_bind

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighOptions:
    """Options from the command line."""

    command: tuple[str, ...]
    typed: tuple[str, ...] | None = None
    """The words of ``command`` that the user wrote, where the image has others; ``None``: all of them."""
    entrypoint: bool = True
    """Whether the image's entry point comes before the command."""
    environments: tuple[str, ...] = ()
    against: str | None = None
    """``host``: the host's own files take part."""
    host_variables: tuple[str, ...] = ()
    """Variables for the host's own files alone, ``NAME`` or ``NAME=VALUE``."""
    binds: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    binds_here: bool = True
    """Whether the command sees the current directory if it names files in it."""
    directory: str | None = None
    input_file: Path | None = None
    variables: tuple[str, ...] = ()
    prepare: str | None = None
    check: str | None = None
    metrics: tuple[str, ...] = ()
    unit: str | None = None
    higher_is_better: bool = False
    variable: str | None = None
    time_limit: str | None = None
    memory: str | None = None
    layout: str | None = None
    network: str | None = None
    mpi: bool = False
    launcher: str = "tare"
    """``tare`` or ``image``: what starts an MPI program."""
    threads: int = 1
    profile: bool = False
    whole: bool = False
    turns: bool = False
    blocks: int | None = None
    budget: str | None = None
    seed: int | None = None
    user: str | None = None


def asked(option: str, parse: Callable[[str], _Value], text: str) -> _Value:
    """Parse an option's text; ``InputError`` with the option's name if it is wrong."""
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"{option}: {error}") from error


def _here() -> Path:
    return Path(os.getcwd())  # noqa: PTH109 - as resolved by the kernel


def binds_of(options: WeighOptions) -> tuple[str, ...]:
    """The directories asked for, the current one if the command names files in it, and the input's."""
    binds = [asked("--bind", normal_bind, text) for text in options.binds]
    wanted = [_here()] if _names_files_here(options) else []
    if options.input_file is not None:
        if not options.input_file.is_file():
            raise InputError(f"--input: there is no file {str(options.input_file)!r}")
        wanted.append(options.input_file.resolve().parent)
    for folder in wanted:
        if not _is_bound(folder, binds):
            binds.append(asked("--bind", normal_bind, str(folder)))
    return tuple(dict.fromkeys(binds))


def _is_bound(folder: Path, binds: Sequence[str]) -> bool:
    return any(folder.is_relative_to(parse_bind(bind).path) for bind in binds)


def _names_files_here(options: WeighOptions) -> bool:
    """Whether a relative path of the command, or its working directory, is in the current directory."""
    if not options.binds_here or str(_here()) == "/":
        return False
    if options.directory is not None and not options.directory.startswith("/"):
        return True
    typed = options.command if options.typed is None else options.typed
    words = [part for word in typed for part in _parts(word)]
    if typed == options.command and "/" not in typed[0]:  # a program's name is no file here
        words = [part for word in typed[1:] for part in _parts(word)]
    return any(map(_is_here, words))


def _parts(word: str) -> Iterator[str]:
    """The words that may be paths in an argument: itself, what follows its ``=``, and a shell line's words."""
    yield word
    yield word.rpartition("=")[2]
    if any(character.isspace() for character in word):
        yield from word.split()


def _is_here(text: str) -> bool:
    if not text or text.startswith("/") or text in {".", ".."} or "\0" in text:
        return False
    try:
        return (_here() / text).exists()
    except OSError:  # longer than any name
        return False


def directory_of(options: WeighOptions) -> str | None:
    """The directory asked for; else the current one if it is bound, so that relative paths work as in a shell."""
    if options.directory is not None:
        return str(_here() / options.directory)
    own = [asked("--bind", normal_bind, text) for text in options.binds]
    return str(_here()) if _is_bound(_here(), own) or _names_files_here(options) else None


def remarks(options: WeighOptions, campaign: Campaign) -> Iterator[str]:
    """What the user did not ask for, and may want to know."""
    own = [asked("--bind", normal_bind, text) for text in options.binds]
    for bind in campaign.binds:
        if bind not in own:
            path = one_line(str(parse_bind(bind).path))
            yield f"the command sees {path}, read-only (--bind DIR:rw, --no-bind)"
    if options.input_file is None and _is_piped():
        yield "the command reads an empty standard input: what is piped to tare is not passed on (--input FILE)"


def _is_piped() -> bool:
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or (stat.S_ISREG(mode) and os.fstat(0).st_size > 0)
