# SPDX-License-Identifier: Apache-2.0
"""The lock of the image's Debian packages: of this recipe, whole, and not against the image that was built."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from scripts.supply.finding import Finding
from tare.errors import TareError
from tare.image import find_image, recipe
from tare.image.lock import BASE, BUILDER, Lock, differences, parse_lock
from tare.image.packages import Origin, Package

CROSS = Path("scripts/supply/aarch64-builder.jsonl")
"""The lock of the builder that compiles a wheel's programs for 64-bit ARM, in the repository."""
SHA256 = re.compile(r"[0-9a-f]{64}")


def locks(repository: Path) -> dict[str, Lock]:
    """File → lock, for each architecture; ``ValueError`` when one is none."""
    folder = repository / "src" / "tare" / "image" / "locks"
    return {file.name: parse_lock(file.read_text()) for file in sorted(folder.glob("*.jsonl"))}


def cross_differences(made: Origin) -> list[str]:
    """One phrase for each package of the builder for 64-bit ARM that is not as locked."""
    lock = parse_lock(CROSS.read_text())
    return differences(lock, {recipe.AARCH64.name: made}, lock.base_digest)


def check_lock(repository: Path) -> Finding:
    """Each locked file has its SHA-256, and the recipe's packages are among them."""
    subject = "Debian locks"
    try:
        locked = locks(repository)
        cross = parse_lock((repository / CROSS).read_text()).packages[recipe.AARCH64.name]
    except (OSError, KeyError) as error:
        return Finding(subject, "unreadable", [f"{CROSS}: {error}"])
    except ValueError as error:
        return Finding(subject, "unreadable", [str(error)])
    faults = [f"{name}: {fault}" for name, lock in locked.items() for fault in _faults(lock)]
    faults += [f"{CROSS.name}: {fault}" for fault in _missing(recipe.AARCH64.name, _names(), cross)]
    faults += [f"{CROSS.name}: {fault}" for fault in _without_hash(recipe.AARCH64.name, cross)]
    counts = [
        f"{name} {len(lock.packages[BASE])} packages of the image, {len(lock.packages[BUILDER])} of its builder"
        for name, lock in locked.items()
    ]
    counts.append(f"{len(cross)} of the builder for 64-bit ARM")
    return Finding(subject, ", ".join(counts), faults if locked else ["there is none"])


def _names() -> list[str]:
    """Apt's words for packages, without the processor, under which none of them is locked."""
    return [name.partition(":")[0] for name in recipe.AARCH64.packages]


def _missing(root: str, names: Iterable[str], packages: Mapping[str, Package]) -> list[str]:
    return [f"{root}: {name} is not locked" for name in names if name not in packages]


def _without_hash(root: str, packages: Mapping[str, Package]) -> list[str]:
    return [
        f"{root}: {name} has no SHA-256"
        for name, about in packages.items()
        if not SHA256.fullmatch(about.get("sha256") or "")
    ]


def _faults(lock: Lock) -> list[str]:
    faults = []
    for root, names in {BASE: recipe.PACKAGES, BUILDER: recipe.BUILDER_PACKAGES}.items():
        packages = lock.packages[root]
        faults += [*_missing(root, names, packages), *_without_hash(root, packages)]
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
