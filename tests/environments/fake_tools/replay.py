# SPDX-License-Identifier: Apache-2.0
"""A tool that is not on this machine: it answers each call as the next one of a transcript did, and no other call.

It is copied under the tool's name into a folder with ``calls.json``, which ``tests.environments.transcripts`` writes.
"""

import json
import shutil
import sys
from pathlib import Path


def act(kind: str, path: Path, text: str) -> None:
    """What the call did to files; the folders above them are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "write":
        path.write_text(text + "\n")
    elif kind == "link":
        path.symlink_to(text)
    elif kind == "folder":
        path.mkdir(parents=True, exist_ok=True)
    else:
        shutil.rmtree(path)


def main() -> int:
    folder, argv = Path(__file__).parent, [Path(__file__).name, *sys.argv[1:]]
    calls = json.loads((folder / "calls.json").read_text())
    if not calls or calls[0]["argv"] != argv:
        surprise = {"called": argv, "expected": calls[0]["argv"] if calls else None}
        (folder / "surprise.json").write_text(json.dumps(surprise))
        sys.stderr.write("not in the transcript\n")
        return 99
    call, *left = calls
    (folder / "calls.json").write_text(json.dumps(left))
    for kind, path, text in call["acts"]:
        act(kind, Path(path), text)
    sys.stdout.write(call["stdout"])
    sys.stderr.write(call["stderr"])
    return int(call["code"])


if __name__ == "__main__":
    sys.exit(main())
