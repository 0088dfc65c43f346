# SPDX-License-Identifier: Apache-2.0
"""The raw output of a trial, stored beside the journal: each instance's printed output and requested files."""

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
    """Copy the non-empty outputs into ``directory``, without the middle of anything longer than 1 MiB.

    Nothing is stored if the result folder, two levels up, no longer exists: the journal's writer reports that.
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
    """The whole content, or its beginning and end; never more, even if it still grows."""
    size_byte = os.fstat(opened.fileno()).st_size
    if size_byte <= _KEPT_BYTE:
        return opened.read(_KEPT_BYTE)
    head = opened.read(_KEPT_BYTE // 2)
    opened.seek(size_byte - _KEPT_BYTE // 2)
    return head + _CUT + opened.read(_KEPT_BYTE // 2)
