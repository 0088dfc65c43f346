# SPDX-License-Identifier: Apache-2.0
"""The lock of the image's Debian packages: of this recipe, whole, and not against the image that was built."""

import re
from pathlib import Path

from scripts.supply.finding import Finding
from tare.errors import TareError
from tare.image import find_image, recipe
from tare.image.lock import BASE, BUILDER, Lock, differences, parse_lock

SHA256 = re.compile(r"[0-9a-f]{64}")


def locks(repository: Path) -> dict[str, Lock]:
    """File → lock, for each architecture; ``ValueError`` when one is none."""
    folder = repository / "src" / "tare" / "image" / "locks"
    return {file.name: parse_lock(file.read_text()) for file in sorted(folder.glob("*.jsonl"))}


def check_lock(repository: Path) -> Finding:
    """Each locked file has its SHA-256, and the recipe's packages are among them."""
    subject = "Debian locks"
    try:
        locked = locks(repository)
    except ValueError as error:
        return Finding(subject, "unreadable", [str(error)])
    faults = [f"{name}: {fault}" for name, lock in locked.items() for fault in _faults(lock)]
    counts = [
        f"{name} {len(lock.packages[BASE])} packages of the image, {len(lock.packages[BUILDER])} of its builder"
        for name, lock in locked.items()
    ]
    return Finding(subject, ", ".join(counts), faults if locked else ["there is none"])


def _faults(lock: Lock) -> list[str]:
    wanted = {BASE: recipe.PACKAGES, BUILDER: recipe.BUILDER_PACKAGES}
    faults = [
        f"{root}: {name} is not locked"
        for root, names in wanted.items()
        for name in names
        if name not in lock.packages[root]
    ]
    faults += [
        f"{root}: {name} has no SHA-256"
        for root, packages in lock.packages.items()
        for name, about in packages.items()
        if not SHA256.fullmatch(about.get("sha256") or "")
    ]
    return faults + [
        f"{name} is not the same in image and builder"
        for name, about in lock.packages[BUILDER].items()
        if about != lock.packages[BASE].get(name, about)
    ]


def check_image(repository: Path) -> Finding:
    """The default image: newer packages than the lock's are said, other files of the same version are a fault."""
    subject = "default image against its lock"
    try:
        manifest = find_image().manifest
        lock = locks(repository)[f"{recipe.SUITE}-{manifest['architecture']}.jsonl"]
        origins = manifest["origins"]
    except (TareError, KeyError, ValueError) as error:
        return Finding(subject, "0 packages", unchecked=f"there is no image that says its origins ({error})")
    said = differences(lock, origins, manifest["base_digest"])
    same_state = origins[BASE]["archives"] == lock.archives
    faults = [
        phrase for phrase in said if same_state or "another file" in phrase or "the same packages" in phrase
    ]
    unnamed = [name for name, about in origins[BASE]["packages"].items() if not about["sha256"]]
    faults += [f"{name} of the image has no SHA-256" for name in unnamed]
    newer = "as locked" if not said else f"{len(said)} not as locked: {'; '.join(said[:5])}"
    return Finding(subject, f"{len(origins[BASE]['packages'])} packages, {newer}", faults)
