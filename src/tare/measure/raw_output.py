# SPDX-License-Identifier: Apache-2.0
"""The raw output of a trial, kept beside the journal: what each instance printed and the files it was to leave."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from tare.journal.own_result import make_trial_folder
from tare.journal.whole import open_new
from tare.measure.instances import Instance
from tare.nodes.files import opened_inside

_KEPT_BYTE = 1 << 20
_CUT = b"\n[... cut by tare: the middle of a long output ...]\n"


def keep(directory: Path, instances: Sequence[Instance]) -> None:
    """Copy the non-empty outputs into ``directory``; the middle of what is longer than 1 MiB is left out.

    Nothing is kept where the result folder, two levels up, is no more: who writes the journal says so.
    """
    if not directory.parent.parent.exists():
        return
    for instance in instances:
        left = (f"{instance.name}/{name}" for name in instance.job.collect)
        for name in (*instance.printed_names(), *left):
            target = directory / f"{instance.name}.{Path(name).name}"
            with opened_inside(instance.work, name) as opened:
                if opened is not None and (text := _ends(opened)):
                    make_trial_folder(directory)
                    with open_new(target) as kept:
                        kept.write(text)


def _ends(opened: BinaryIO) -> bytes:
    """All of it, or its beginning and its end; never more, even if it still grows."""
    size_byte = os.fstat(opened.fileno()).st_size
    if size_byte <= _KEPT_BYTE:
        return opened.read(_KEPT_BYTE)
    head = opened.read(_KEPT_BYTE // 2)
    opened.seek(size_byte - _KEPT_BYTE // 2)
    return head + _CUT + opened.read(_KEPT_BYTE // 2)
