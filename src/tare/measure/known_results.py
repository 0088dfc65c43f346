# SPDX-License-Identifier: Apache-2.0
"""The results that were measured with this state folder, and their images: ``tare image prune`` keeps those.

``results.jsonl`` in the state folder has one line for each result that was still there when the last run began.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tare.host.paths import state_directory
from tare.journal.result import ResultFolder
from tare.journal.whole import write_whole

_FILE = "results.jsonl"


def remember(folder: ResultFolder, image_digest: str) -> None:
    """Note that this result needs this image; call it while the host is held. A full disk stops no run."""
    line = (str(folder.path.absolute()), image_digest)
    lines = [*(known for known in known_results() if known[0] != line[0]), line]
    with suppress(OSError):
        text = "".join(json.dumps({"result": path, "image": digest}) + "\n" for path, digest in lines)
        write_whole(state_directory() / _FILE, text)


def known_results() -> Iterator[tuple[str, str]]:
    """Folder and image digest of each result that is still where it was measured."""
    try:
        lines = (state_directory() / _FILE).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(line)
            path, digest = str(said["result"]), str(said["image"])
            if ResultFolder(Path(path)).exists():
                yield path, digest
