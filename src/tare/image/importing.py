# SPDX-License-Identifier: Apache-2.0
"""Makes an image of the user's own root filesystem: a directory, a tar archive, or a container image archive."""

from pathlib import Path

from tare.errors import InputError
from tare.host.paths import images_directory
from tare.image import layout, recipe, unprivileged
from tare.image.archive import unpack
from tare.image.build import copy_tree, facts
from tare.image.debian import staging
from tare.image.native import native_programs
from tare.image.oci import archive_format, unpack_image
from tare.image.store import DEFAULT_NAME, Image, building, image_directory, install, remove_tree
from tare.image.tool import Progress, require_space


def import_image(source: Path, name: str, progress: Progress) -> Image:
    """Copy ``source`` as image ``name``, with Tare's own programs and the mount points added.

    Raises ``InputError`` when ``source`` is missing, broken or hostile or ``name`` is not free to take,
    ``HostError`` when the host cannot do it.
    """
    _check(source, name)
    require_space(images_directory(), recipe.NEEDED_BYTE)
    with building(), staging(images_directory()) as staged:
        programs = native_programs(recipe.native_source(), progress)
        root = staged / "rootfs"
        kind = _bring(source, staged, root, progress)
        if unprivileged.ordinary_user():
            unprivileged.make_own(root)
        layout.add_mount_points(root)
        layout.add_tools(root, programs)
        progress("taking the digest")
        keys = {"native": recipe.native_key(recipe.native_source())}
        return install(
            staged, name, facts(root, {"kind": "import", "format": kind, "path": str(source)}, keys)
        )


def _check(source: Path, name: str) -> None:
    if name == DEFAULT_NAME:
        raise InputError(f"{DEFAULT_NAME!r} is the image that `tare image build` makes; choose another name.")
    image_directory(name)
    if not source.is_dir() and not source.is_file():
        raise InputError(f"There is no directory or file {source} to import.")
    if source.is_dir() and images_directory().resolve().is_relative_to(source.resolve()):
        raise InputError(
            f"{source} holds Tare's own images in {images_directory()}; import a directory beside it."
        )


def _bring(source: Path, staged: Path, root: Path, progress: Progress) -> str:
    """Fill ``root``; returns the format that ``source`` turned out to have."""
    if source.is_dir() and not archive_format(source):
        progress(f"copying {source}")
        copy_tree(source, root)
        return "directory"
    folder = source
    if source.is_file():
        progress(f"unpacking {source}")
        unpack(source, _made(root))
        if not archive_format(root):
            return "tar"
        folder = root.rename(staged / "archive")
    kind = str(archive_format(folder))
    unpack_image(folder, _made(root), progress)
    remove_tree(staged / "archive")
    return kind


def _made(root: Path) -> Path:
    root.mkdir()
    root.chmod(0o755)
    return root
