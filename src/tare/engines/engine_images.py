# SPDX-License-Identifier: Apache-2.0
"""Images that Docker and Podman keep for Tare: imported once by digest, and removed when no image has that digest."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from tare.errors import NodeError
from tare.host import process
from tare.host.paths import images_directory

_LABEL = "tare.image"
_NAME = "tare:"
_IMPORT_LIMIT_S = 600.0


def reference(image_digest: str) -> str:
    """The engines' name for an image of Tare's."""
    return f"{_NAME}{image_digest.removeprefix('sha256:')[:24]}"


def ensure(engine: Sequence[str], root: Path, wanted: str) -> None:
    """Import the tree as ``wanted`` if the engine has no such image; ``NodeError`` gives the reason for a failure."""
    if process.run([*engine, "image", "inspect", "--format", "{{.Id}}", wanted]).code != 0:
        _import(engine, root, wanted)


def remove_old(engine: Sequence[str], image_digest: str) -> None:
    """Remove imported images except this one and the others in the state directory.

    Without force, so that an image used by a container stays.
    """
    kept = {reference(digest) for digest in (image_digest, *_digests())}
    form = "{{.ID}} {{.Repository}}:{{.Tag}}"
    done = process.run([*engine, "images", "--filter", f"label={_LABEL}", "--format", form])
    for line in done.stdout.splitlines() if done.code == 0 else ():
        identity, _, name = line.partition(" ")
        own = name.removeprefix("localhost/")  # Podman's prefix for an image without a registry
        if own == "<none>:<none>":
            process.run([*engine, "image", "rm", identity])
        elif own.startswith(_NAME) and own not in kept:
            process.run([*engine, "image", "rm", name])


def _digests() -> Iterator[str]:
    """The digests of all images in the state directory; unreadable ones are left out."""
    for manifest in images_directory().glob("[!.]*/manifest.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            yield str(json.loads(manifest.read_bytes())["digest"])


def _import(engine: Sequence[str], root: Path, wanted: str) -> None:
    pack = ["tar", "--numeric-owner", "--xattrs", "-C", str(root), "-c", "."]
    load = [*engine, "import", "--change", f"LABEL {_LABEL}=1", "-", wanted]
    environment = process.tool_environment()
    with subprocess.Popen(pack, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as packer:
        try:
            done = subprocess.run(
                load,
                stdin=packer.stdout,
                capture_output=True,
                timeout=_IMPORT_LIMIT_S,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired as error:
            raise NodeError(f"{engine[0]} did not import the image within {_IMPORT_LIMIT_S:.0f} s") from error
    if done.returncode != 0 or packer.returncode != 0:
        # The next run must not mistake half an image for a whole one.
        process.run([*engine, "image", "rm", "--force", wanted])
        said = done.stderr.decode(errors="replace").strip() or f"tar ended with {packer.returncode}"
        raise NodeError(f"{engine[0]} cannot import the image: {said}")
