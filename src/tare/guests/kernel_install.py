# SPDX-License-Identifier: Apache-2.0
"""Puts a kernel for guests into the store: Debian's, a file of the user's, or the kernel that this host runs."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tare.errors import HostError, InputError, NodeError
from tare.guests import kernel_package
from tare.guests.bzimage import boot_image
from tare.guests.kernel import DIRECT, PACKED, GuestKernel, find_kernel, modules_of, stored_kernels
from tare.guests.modules import ModuleIndex
from tare.guests.unpacked import unpacked_module
from tare.host.paths import kernels_directory
from tare.image.debian import staging
from tare.image.store import bringing_kernel, remove_tree
from tare.image.tool import Progress, require_tools, run_tool
from tare.records import SCHEMA

MODULES = (
    *(
        "virtio_pci",
        "virtio_mmio",
        "virtio_blk",
        "virtio_net",
        "virtio_console",
        "virtio_rng",
        "virtio_balloon",
    ),
    *("virtio_scsi", "virtiofs", "9p", "9pnet_virtio"),
    *("ata_piix", "ahci", "sd_mod", "sr_mod", "nvme", "e1000", "e1000e", "pcnet32"),
    *("mptspi", "mptsas", "vmw_pvscsi", "vmxnet3", "xen-blkfront", "xen-netfront"),
    *("erofs", "ext4", "isofs", "overlay", "af_packet"),
)
"""Modules that guests' devices and file systems may need, if the kernel has them; with all their dependencies."""
INDEX_FILES = ("modules.builtin", "modules.builtin.modinfo", "modules.order")
"""The files that depmod(8) reads besides the modules."""
HOST_KERNELS = Path("/boot")
_DEPMOD_LIMIT_S = 120
_WAYS = (
    "bring one with: tare image kernel --from VMLINUZ --modules FOLDER (those of any package of a distribution's "
    "kernel for x86-64); without it the environments that start virtual machines of their own are left out"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSource:
    """A kernel that is not yet in the store."""

    image: Path
    modules: Path | None
    """The folder with modules.dep."""
    origin: str
    """Its source, in words."""


def install_kernel(
    *, progress: Progress, source: Path | None = None, modules: Path | None = None, refresh: bool = False
) -> GuestKernel:
    """Put a kernel into the store; return at once when no source is named and the store already has a kernel.

    ``source`` is a kernel's file, ``modules`` the folder with its modules.dep; without them it is Debian's newest, or
    else the kernel that this host runs. Raises ``InputError`` for a file that is no kernel, ``HostError`` when no
    kernel can be had.
    """
    if source is None and modules is not None:
        raise InputError("--modules goes with --from: name the kernel that these modules are of.")
    if source is None and not refresh and (there := stored_kernels()):
        return there[-1]
    with bringing_kernel(), staging(kernels_directory()) as staged:
        kernel_source = _given(source, modules) if source is not None else _debian_or_own(staged, progress)
        return _install(kernel_source, staged, progress)


def describe(kernel: GuestKernel) -> dict[str, str | bool]:
    """The description of a stored kernel that ``tare image kernel`` prints."""
    about = json.loads((kernel.image.parent / "about.json").read_bytes())
    return {**about, "image": str(kernel.image), "direct": kernel.direct}


def _given(source: Path, modules: Path | None) -> KernelSource:
    if modules is not None and not (modules / "modules.dep").is_file():
        raise InputError(f"{modules} holds no modules.dep; name the folder that depmod(8) made it in.")
    if not source.is_file():
        raise InputError(f"There is no kernel {source}.")
    return KernelSource(image=source, modules=modules, origin=str(source.resolve()))


def _debian_or_own(staged: Path, progress: Progress) -> KernelSource:
    """Debian's kernel needs its package registry; the host's own needs to be readable."""
    try:
        image, modules, name = kernel_package.fetch(staged / "package", progress)
    except HostError as error:
        own = HOST_KERNELS / f"vmlinuz-{os.uname().release}"
        if not os.access(own, os.R_OK):
            raise HostError(
                f"There is no kernel for guests: {error} The host's own, {own}, cannot be read; {_WAYS}."
            ) from error
        progress(f"Debian's kernel cannot be had, so {own} is taken ({str(error).splitlines()[0]})")
        return KernelSource(image=own, modules=None, origin=f"this host's own, {own}")
    return KernelSource(image=image, modules=modules, origin=name)


def _install(source: KernelSource, staged: Path, progress: Progress) -> GuestKernel:
    """Build the store's folder in ``staged`` and rename it into place."""
    made = staged / "kernel"
    made.mkdir()
    try:
        image = boot_image(source.image.read_bytes())
        modules = source.modules or modules_of(source.image, image.release)
        if modules is not None:
            progress(f"taking the modules that guests need from {modules}")
            _take_modules(modules, image.release, made)
    except NodeError as error:
        raise InputError(f"{source.image} cannot be a guest's kernel: {error}.") from error
    except OSError as error:
        raise HostError(f"{error.filename} cannot be read or written: {error.strerror}.") from error
    (made / (DIRECT if image.direct else PACKED)).write_bytes(image.content)
    about = {"schema": SCHEMA, "release": image.release, "origin": source.origin}
    (made / "about.json").write_text(json.dumps(about, indent=1) + "\n")
    _replace(made, kernels_directory() / image.release)
    return find_kernel(image.release)


def _replace(made: Path, final: Path) -> None:
    old = final.with_name(f".old-{final.name}")
    remove_tree(old)
    if final.exists():
        final.rename(old)
    made.rename(final)
    remove_tree(old)


def _take_modules(folder: Path, release: str, made: Path) -> None:
    """Copy the wanted modules, uncompressed, and let depmod(8) describe them."""
    require_tools({"depmod": "kmod"})
    with kernel_package.depmod_tree(made / "tree", release) as tree:
        for path in _wanted(folder):
            target = tree / path.partition(".ko")[0]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_name(f"{target.name}.ko").write_bytes(unpacked_module(folder / path))
        for name in INDEX_FILES:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, tree / name)
        run_tool(["depmod", "--basedir", str(made / "tree"), release], limit_s=_DEPMOD_LIMIT_S)
        tree.rename(made / "modules")


def _wanted(folder: Path) -> Iterator[str]:
    index = ModuleIndex(folder)
    yield from index.load_order([name for name in MODULES if index.has(name)])
