# SPDX-License-Identifier: Apache-2.0
"""The raw output of a trial, kept beside the journal: what each instance printed and the files it was to leave."""

import os
from collections.abc import Sequence
from pathlib import Path

from tare.measure.instances import Instance

_KEPT_BYTE = 1 << 20
_CUT = b"\n[... cut by tare: the middle of a long output ...]\n"


def keep(directory: Path, instances: Sequence[Instance]) -> None:
    """Copy the non-empty outputs into ``directory``; the middle of what is longer than 1 MiB is left out."""
    for instance in instances:
        sources = [instance.folder / ".output" / name for name in ("stdout", "stderr")]
        sources += [instance.folder / name for name in instance.job.collect]
        for source in sources:
            _keep_one(source, directory / f"i{instance.number}.{source.name}")


def _keep_one(source: Path, target: Path) -> None:
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    with os.fdopen(descriptor, "rb") as opened:
        size_byte = os.fstat(descriptor).st_size
        if size_byte == 0:
            return
        text = opened.read(_KEPT_BYTE)
        if size_byte > _KEPT_BYTE:
            opened.seek(-_KEPT_BYTE // 2, os.SEEK_END)
            text = text[: _KEPT_BYTE // 2] + _CUT + opened.read()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text)
