# SPDX-License-Identifier: Apache-2.0
"""Where a program that measures files puts them: a node's layer, its work directory, or a folder of the user's."""

import re
from typing import Literal, Self

from pydantic import model_validator

from tare.errors import InputError
from tare.records import Storage
from tare.units import format_byte
from tare.workloads.kind import Options, Shape

_LAYER = "/var/tmp"  # noqa: S108 - a folder of every image that any user may write, and no mount of a technology's

_PATH = re.compile(r"(?:/[\w.+-]+)+", re.ASCII)
"""What is the same in a job file of fio's as on a command line."""


class PlaceOptions(Options):
    """The folder of the files, and whether their transfers pass the page cache by."""

    direct: bool = False
    """Past the page cache (O_DIRECT)."""
    medium: Literal["layer", "work"] = "layer"
    """The node's root file system, or the work directory that Tare shows it."""
    directory: str | None = None
    """Instead of the medium: a folder in the node, such as a bound one."""

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if self.directory is not None and not _PATH.fullmatch(self.directory):
            raise ValueError(
                f"directory = {self.directory!r} is not an absolute path inside the node, of letters, digits and ._+-"
            )
        if self.directory is not None and self.medium != "layer":
            raise ValueError("give either medium or directory")
        return self

    @property
    def folder(self) -> str:
        """Relative: the instance's own work directory."""
        return self.directory or (_LAYER if self.medium == "layer" else ".")

    @property
    def place(self) -> str:
        """In words, for the facts."""
        return self.directory or self.medium


def file_name(kind: str, shape: Shape) -> str:
    """The beginning of the names of an instance's files: several instances may share the folder."""
    return f"tare-{kind}-instance-{shape.instance}"


def lies_in_memory(options: PlaceOptions, shape: Shape) -> bool:
    """Whether that is known beforehand; a folder of the user's shows it only when it is used."""
    return shape.storage is Storage.TMPFS and options.directory is None


def require_disk(option: str, asked: bool, options: PlaceOptions, shape: Shape) -> None:
    """Raise ``InputError`` where an option that is ``asked`` for means nothing, as the files would lie in memory.

    Linux opens a file in memory with O_DIRECT, and caches it all the same: the figures would be others than asked for.
    """
    if asked and lies_in_memory(options, shape):
        raise InputError(
            f'{option} = true needs a disk, and the nodes\' layers lie in memory; write storage = "disk" under'
            " [limits], or bind a folder of a disk"
        )


def require_place(kind: str, options: PlaceOptions, shape: Shape, needed_byte: int) -> None:
    """Raise ``InputError`` where nodes cooperate, files would be direct in memory, or would not fit there."""
    if shape.span is not None:
        raise InputError(f"{kind} is one process, and an instance spans several nodes here")
    require_disk("direct", options.direct, options, shape)
    in_memory = lies_in_memory(options, shape)
    if needed_byte > shape.memory_byte and in_memory:
        raise InputError(
            f"{kind}'s files need {format_byte(needed_byte)} of memory, where the nodes' layers lie, but an instance"
            f' has {format_byte(shape.memory_byte)}; give smaller sizes, more memory, or storage = "disk"'
        )
