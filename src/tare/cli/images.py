# SPDX-License-Identifier: Apache-2.0
"""``tare image``: its commands."""

from pathlib import Path
from typing import Annotated

import typer

from tare.cli.options import Commands, Json

app = Commands(
    no_args_is_help=True, rich_markup_mode=None, help="The one root filesystem that every environment runs."
)


@app.command("build")
def image_build(
    name: Annotated[
        str | None, typer.Argument(help="What to call it; else default, or host for this host's files.")
    ] = None,
    way: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="WAY",
            help="debian (packages, by mmdebstrap), host (this host's own files), or this host's distribution: dnf, "
            "zypper, pacman, apk. Unless given, debian if it can be had, else host.",
        ),
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch the newest packages.")] = False,
    as_json: Json = False,
) -> int:
    """Build the image; nothing is done when it is there and up to date."""
    from tare.commands.images_made import run_build

    return run_build(name, as_json, way=way, refresh=refresh)


@app.command("list")
def image_list(as_json: Json = False) -> int:
    """List the images on this host."""
    from tare.commands.image import run_list

    return run_list(as_json)


@app.command("verify")
def image_verify(name: Annotated[str, typer.Argument()] = "default", as_json: Json = False) -> int:
    """Check that no byte of an image has changed."""
    from tare.commands.image import run_verify

    return run_verify(name, as_json)


@app.command("sbom")
def image_sbom(name: Annotated[str, typer.Argument()] = "default") -> int:
    """Print what an image is made of, as CycloneDX: packages, their files' hashes, licences."""
    from tare.commands.image import run_sbom

    return run_sbom(name)


@app.command("import")
def image_import(
    source: Annotated[
        str,
        typer.Argument(
            help="A directory, a tar file, an OCI or docker-save archive, a SIF, docker:NAME or podman:NAME of a "
            "local image, or docker://NAME in a registry."
        ),
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="What to call it.")] = "imported",
    as_json: Json = False,
) -> int:
    """Take your own root filesystem as an image."""
    from tare.commands.image import run_import

    return run_import(source, name, as_json)


@app.command("rm")
def image_remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Images to remove.")],
    as_json: Json = False,
) -> int:
    """Remove images."""
    from tare.commands.image import run_remove

    return run_remove(names, as_json)


@app.command("prune")
def image_prune(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Remove nothing: list what would be removed.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Remove the images that no result needs, all but the default one."""
    from tare.commands.prune import run_prune

    return run_prune(as_json, asks=not yes, dry_run=dry_run)


@app.command("kernel")
def image_kernel(
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="A kernel's file; else Debian's newest, or this host's own."
        ),
    ] = None,
    modules: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder of its modules, with modules.dep; found by itself beside it."
        ),
    ] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch Debian's newest.")] = False,
    as_json: Json = False,
) -> int:
    """Bring a kernel for virtual machines; nothing is done when there is one."""
    from tare.commands.image import run_kernel

    return run_kernel(source, modules, as_json, refresh=refresh)
