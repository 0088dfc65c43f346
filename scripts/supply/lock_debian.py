# SPDX-License-Identifier: Apache-2.0
"""Writes the lock of the image's Debian packages from two root filesystems that are made anew for it."""

import os
import sys
import tempfile

from tare.image import recipe
from tare.image.debian import base, builder, origin
from tare.image.digest import digest, list_tree
from tare.image.lock import BASE, BUILDER, Lock, lock_file, lock_text
from tare.image.store import building


def main() -> None:
    """Needs root, as the digest is of a tree with all its owners; takes about a minute."""
    if os.geteuid() != 0:
        sys.exit("lock: the image's packages are locked by root, whose image has all owners; be root.")
    with tempfile.TemporaryDirectory(dir="build") as state:
        os.environ["TARE_STATE"] = state
        lock_file(recipe.SUITE).write_text(lock_text(fresh_lock()))


def fresh_lock() -> Lock:
    """What the mirror gives now."""
    with building():
        roots = {BASE: base(_say), BUILDER: builder(_say)}
        origins = {name: origin(root) for name, root in roots.items()}
        return Lock(
            suite=recipe.SUITE,
            architecture=os.uname().machine,
            base_digest=digest(list_tree(roots[BASE])),
            archives=origins[BUILDER]["archives"],
            packages={name: made["packages"] for name, made in origins.items()},
        )


def _say(line: str) -> None:
    print(f"lock: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
