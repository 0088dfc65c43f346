# SPDX-License-Identifier: Apache-2.0
"""The image as Sarus keeps it: a squashfs that ``sarus load`` makes, in a repository with nothing else in it.

Sarus knows a repository of each user of the host, and a centralized one. A command's user may be nobody whom the host
knows, so Tare's images are in a centralized one: a folder of the state directory, which a mount namespace shows in the
place of the site's. So the site's own stays as it is, and the image goes with Tare's.
Sources: Sarus user guide ("sarus load", "sarus run"), its configuration reference, and Sarus 1.7.0.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

from tare.errors import NodeError
from tare.guests.disk import only_maker, require_room
from tare.host import process
from tare.host.paths import sarus_directory
from tare.host.removal import remove_what_goes
from tare.untrusted import from_json, of_kind

PROGRAM = "sarus"
REFERENCE = "load/library/tare:image"
"""The image's name in its repository: ``sarus load`` puts ``load`` before what it is told."""
_TOLD = "tare:image"
_SQUASHFS = Path("images") / REFERENCE.replace(":", "/")
_MAKE_LIMIT_S = 900.0
_PACKED = ("manifest.json", "config.json", "layer.tar")
_SHOWING = (
    'while [ "$1" != -- ]; do mkdir -p "$2" && mount --rbind "$1" "$2" || exit; shift 2; done; '
    'shift; exec "$@"'
)


def image_repository(image_root: Path, digest: str) -> Path:
    """The repository that holds the image, made once per digest within a minute. Raises ``NodeError``.

    Every file in it is root's: Sarus unpacks an image as one user.
    """
    final = sarus_directory() / digest.removeprefix("sha256:")
    if not final.is_dir():
        with only_maker(sarus_directory()):
            if not final.is_dir():  # another process may have made it meanwhile
                _make(image_root, final)
    return final


def _make(image_root: Path, final: Path) -> None:
    new = final.with_name(".new")
    remove_what_goes(new)
    require_room(image_root, final.parent)
    try:
        repository, folder = new / "repository", new / "archive"
        repository.mkdir(parents=True)
        folder.mkdir()
        _pack(image_root, folder)
        _load(folder, repository)
        repository.rename(final)
    finally:
        remove_what_goes(new)


def _pack(image_root: Path, folder: Path) -> None:
    """The image as ``docker save`` packs one, with one layer and no configuration: Tare's commands bring their own."""
    layer = folder / "layer.tar"
    pack = ["tar", "--numeric-owner", "--xattrs", "-C", str(image_root), "-cf", str(layer), "."]
    process.run_checked(pack, timeout_s=_MAKE_LIMIT_S)
    with layer.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    layers = {"type": "layers", "diff_ids": [f"sha256:{digest}"]}
    config = {"architecture": _architecture(), "os": "linux", "config": {}, "rootfs": layers}
    (folder / "config.json").write_text(json.dumps(config))
    manifest = [{"Config": "config.json", "RepoTags": None, "Layers": ["layer.tar"]}]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    whole = ["tar", "-C", str(folder), "-cf", str(folder / "image.tar"), *_PACKED]
    process.run_checked(whole, timeout_s=_MAKE_LIMIT_S)
    layer.unlink()


def _architecture() -> str:
    """This host's, as images name it."""
    machine = os.uname().machine
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def _load(folder: Path, repository: Path) -> None:
    load = ["env", f"HOME={folder}", PROGRAM, "load", "--centralized-repository", f"--temp-dir={folder}"]
    argv = [*showing([(repository, repository_place())]), *load, str(folder / "image.tar"), _TOLD]
    process.run_checked(argv, timeout_s=_MAKE_LIMIT_S)
    try:
        (repository / f"{_SQUASHFS}.squashfs").chmod(0o400)  # an image may hold what others must not read
    except OSError as error:
        raise NodeError(f"sarus load made no {error.filename}: {error.strerror}") from error


def showing(places: Sequence[tuple[Path, Path]], before: Sequence[str] = ()) -> list[str]:
    """The argv prefix of a command that sees each first path at the second one, in a mount namespace of its own.

    ``before``: an argv prefix to run in that namespace first.
    """
    pairs = [str(path) for pair in places for path in pair]
    return ["unshare", "--mount", "--", *before, "sh", "-c", _SHOWING, "sh", *pairs, "--"]


class _SarusConfiguration(TypedDict):
    """The parts of sarus.json that Tare uses."""

    centralizedRepositoryDir: NotRequired[str]


def repository_place() -> Path:
    """Where Sarus looks for the centralized repository; ``NodeError`` where it has none."""
    program = shutil.which(PROGRAM, path=process.tool_environment()["PATH"])
    if program is None:
        raise NodeError(f"{PROGRAM} is not on this host")
    file = Path(program).resolve().parent.parent / "etc" / "sarus.json"
    try:
        place = of_kind(_SarusConfiguration, from_json(file.read_bytes())).get("centralizedRepositoryDir", "")
    except OSError as error:
        raise NodeError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise NodeError(f"{file} is not understood: {error}") from None
    if not Path(place).is_absolute() or not Path(place).is_dir():
        raise NodeError(f"the centralizedRepositoryDir of {file} is no directory: {place[:80] or 'not set'}")
    return Path(place)
