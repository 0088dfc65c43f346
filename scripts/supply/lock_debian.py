# SPDX-License-Identifier: Apache-2.0
"""Writes the locks of Debian packages from root filesystems made anew: the image's, and the cross compiler's."""

import os
import sys
import tempfile

from scripts.supply.debian_lock import CROSS
from tare.image import recipe
from tare.image.debian import base, builder, origin
from tare.image.digest import digest, list_tree
from tare.image.lock import BASE, BUILDER, Lock, lock_file, lock_text
from tare.image.packages import Origin
from tare.image.store import building


def main() -> None:
    """Needs root, as the digest is of a tree with all its owners; takes about a minute."""
    if os.geteuid() != 0:
        sys.exit("lock: the image's packages are locked by root, whose image has all owners; be root.")
    with tempfile.TemporaryDirectory(dir="build") as state:
        os.environ["TARE_STATE"] = state
        lock_file(recipe.SUITE).write_text(lock_text(fresh_lock()))
        if os.uname().machine == "x86_64":
            CROSS.write_text(lock_text(fresh_cross_lock()))


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


def fresh_cross_lock() -> Lock:
    """The same for the builder that compiles a wheel's programs for 64-bit ARM; it has no base."""
    with building():
        made = origin(builder(_say, recipe.AARCH64))
    return cross_lock(made)


def cross_lock(made: Origin) -> Lock:
    return Lock(
        recipe.SUITE, os.uname().machine, "", made["archives"], {recipe.AARCH64.name: made["packages"]}
    )


def _say(line: str) -> None:
    print(f"lock: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
