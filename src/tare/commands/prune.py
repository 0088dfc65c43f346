# SPDX-License-Identifier: Apache-2.0
"""``tare image prune``: removes this user's images that no result needs."""

import json
import sys
from collections.abc import Mapping, Sequence

from tare.commands.image import origin_of, size_of
from tare.drawing.words import counted
from tare.errors import ExitCode, InputError, LockedError
from tare.image import DEFAULT_NAME, Image, list_images
from tare.image.store import image_directory, remove_image
from tare.measure.known_results import known_results
from tare.units import format_byte


def run_prune(as_json: bool, *, asks: bool, dry_run: bool) -> ExitCode:
    """Remove them, once the user has agreed to the list; ``InputError`` where nobody can be asked."""
    kept, unneeded = _sorted()
    if not as_json:
        _list(kept, unneeded)
    if unneeded and not dry_run and asks:
        _ask(unneeded)
    removed = [] if dry_run else [image for image in unneeded if _remove(image, kept)]
    if as_json:
        listed = {"would_remove": _names(unneeded)} if dry_run else {"removed": _names(removed)}
        why = [{"name": name, "why": words} for name, words in kept.items()]
        print(json.dumps({"schema": 1, **listed, "kept": why}))
    elif not dry_run and unneeded:
        print(f"removed {counted(len(removed), 'image')}, {_total(removed)}")
    return ExitCode.DONE


def _sorted() -> tuple[dict[str, str], list[Image]]:
    """What is kept, with the reason; and the others."""
    results: dict[str, str] = {digest: path for path, digest in known_results()}
    kept, unneeded = {}, []
    for image in list_images():
        if image.root.parent != image_directory(image.name):
            kept[image.name] = "it is root's"
        elif image.name == DEFAULT_NAME:
            kept[image.name] = "it is used where no other is named"
        elif image.digest in results:
            kept[image.name] = f"the result {results[image.digest]} needs it"
        else:
            unneeded.append(image)
    return kept, unneeded


def _list(kept: Mapping[str, str], unneeded: Sequence[Image]) -> None:
    for name, why in kept.items():
        print(f"kept {name}: {why}")
    for image in unneeded:
        print(f"unneeded {image.name}, {size_of(image)}, {origin_of(image)}")
    if not unneeded:
        print("there is nothing to remove")
    elif len(unneeded) > 1:
        print(f"{counted(len(unneeded), 'image')} that no result needs, {_total(unneeded)} in all")


def _ask(unneeded: Sequence[Image]) -> None:
    """``InputError`` unless the user agrees."""
    if not sys.stdin.isatty():
        raise InputError("nobody can be asked whether to remove them: add --yes, or --dry-run to list them")
    them = "it" if len(unneeded) == 1 else "them"
    print(f"remove {them}? [y/N] (--yes: never ask) ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise InputError("nothing was removed")


def _remove(image: Image, kept: dict[str, str]) -> bool:
    try:
        remove_image(image)
    except LockedError as error:
        kept[image.name] = str(error)
        print(f"kept {image.name}: {error}", file=sys.stderr)
        return False
    return True


def _names(images: Sequence[Image]) -> list[str]:
    return [image.name for image in images]


def _total(images: Sequence[Image]) -> str:
    return format_byte(sum(int(image.manifest.get("size_byte", 0)) for image in images))
