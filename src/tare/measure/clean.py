# SPDX-License-Identifier: Apache-2.0
"""Removal of what a killed run left: only things that Tare recorded before making them.

A fault in one of them blocks neither the others nor a run.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tare.environments import PROVIDERS
from tare.environments.ssh import shared
from tare.errors import TareError
from tare.host import removal, scratch
from tare.host.cgroups import remove_parent_if_empty
from tare.host.paths import nodes_directory
from tare.host.removal import remove_folder, said
from tare.measure.lock import open_tools_lock, wait_for_tools
from tare.node_life import halt_node
from tare.nodes.record import RECORD, read_record, recorded_nodes

AGAIN_S = 600.0
"""Time limit for leftovers that resisted at first: the user asked for it, and waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Something that an earlier run left and that still exists."""

    name: str
    place: Path
    why: str
    may_run: bool
    """Whether its processes may still be running beside a measurement."""

    @property
    def sentence(self) -> str:
        """What an administrator has to know about it."""
        if self.may_run:
            return (
                f"{self.name}, left by an earlier run, cannot be stopped ({self.why}). It may still be at work, and "
                f"spoil what is measured beside it: look for its processes (pgrep -f {self.name}), end them, then "
                "run `tare clean`"
            )
        return (
            f"{self.name}, left by an earlier run, was stopped but not removed ({self.why}). It disturbs no run; what "
            f"is left lies in {self.place}, and `tare clean` tries it again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """The result of a clean-up."""

    removed: Sequence[str] = ()
    """Names of nodes that are gone."""
    kept: Sequence[Kept] = ()


def clean_up() -> Cleaned:
    """Remove leftovers, after the tools of the killed run have ended; the result includes what stays.

    The host lock must be held. ``HostError`` if the state folder must not be used.
    """
    descriptor = open_tools_lock()
    try:
        wait_for_tools(descriptor)
        cleaned = remove_leftovers()
    finally:
        os.close(descriptor)
    remove_parent_if_empty()
    return cleaned


def remove_leftovers() -> Cleaned:
    """Remove what a killed run left, or move it out of the way; raises nothing for what stays.

    A folder without a record is not ours unless it is empty: then a run was killed before it could write the record.
    """
    removed, kept = [], []
    with shared.kept():
        looked_at = [(folder, _take_away(folder)) for folder in recorded_nodes()]
    for folder, left in looked_at:
        if left is None:
            removed.append(folder.name)
        else:
            kept.append(left)
    for directory in nodes_directory().glob("*"):
        with suppress(OSError):
            directory.rmdir()
    scratch.remove_unused()
    return Cleaned(removed=removed, kept=kept)


def remove_quarantined() -> Cleaned:
    """Try again to remove what stayed before."""
    removed, kept = [], []
    for place in removal.quarantined():
        try:
            remove_folder(place, RECORD, limit_s=AGAIN_S)
            removed.append(place.name)
        except OSError as error:
            kept.append(Kept(name=place.name, place=place, why=said(error), may_run=False))
    return Cleaned(removed=removed, kept=kept)


def _take_away(folder: Path) -> Kept | None:
    try:
        spec = read_record(folder, PROVIDERS)
        if spec is not None:
            halt_node(spec, PROVIDERS[spec.technology])
    except TareError as error:
        return Kept(name=folder.name, place=folder, why=str(error), may_run=True)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with this one, the others are to go
        return Kept(name=folder.name, place=folder, why=f"{type(error).__name__}: {error}", may_run=True)
    try:
        remove_folder(folder, RECORD)
    except OSError as error:
        return _put_away(folder, error)
    return None


def _put_away(folder: Path, problem: OSError) -> Kept:
    """Move it away; if that fails it stays where it is, as no other node has its name."""
    place = folder
    with suppress(OSError, TareError):
        place = removal.put_away(folder)
    return Kept(name=folder.name, place=place, why=said(problem), may_run=False)
