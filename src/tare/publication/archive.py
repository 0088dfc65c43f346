# SPDX-License-Identifier: Apache-2.0
"""Files as one archive whose bytes depend on their names and contents alone: no time, owner or order of the host."""

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from typing import Any

from tare.errors import TareError
from tare.image import find_image


def packed(folder: str, files: Mapping[str, bytes]) -> bytes:
    """A ``.tar.gz`` that holds them in ``folder``."""
    content_of_all = io.BytesIO()
    with tarfile.open(fileobj=content_of_all, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(content_of_all.getvalue(), mtime=0)


def image_facts(name: str, digest: str) -> Mapping[str, Any]:
    """The manifest of the image, if this host still has it; else its name and digest."""
    try:
        image = find_image(name)
    except TareError:
        image = None
    return dict(image.manifest) if image and image.digest == digest else {"digest": digest, "name": name}


def json_bytes(value: object) -> bytes:
    """The same for equal values."""
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()
