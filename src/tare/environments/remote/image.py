# SPDX-License-Identifier: Apache-2.0
"""Copying the image to the other host, once: the next run uses it there after checking its digest."""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TypedDict

from tare.environments.remote.channel import Channel
from tare.environments.remote.connection import Far, variables
from tare.errors import NodeError
from tare.host.process import tool_environment

_CHECK_LIMIT_S = 900.0
_CARRY_LIMIT_S = 4 * 3600.0


class _Place(TypedDict):
    into: str | None
    """``None``: it is already there."""


def carry(far: Far, channel: Channel, image_root: Path, image_digest: str) -> None:
    """Copy the image there if needed; ``NodeError`` if it cannot be sent, or arrives changed."""
    into = channel.ask("find image", digest=image_digest, limit_s=_CHECK_LIMIT_S).told(_Place)["into"]
    if into is not None:
        _send(far, image_root, into)
        channel.ask("finish image", limit_s=_CHECK_LIMIT_S)


def _send(far: Far, image_root: Path, into: str) -> None:
    """From tar here to tar there, with owners, modes, links and extended attributes (tar(1))."""
    kept = ("--numeric-owner", "--xattrs")
    pack = ["tar", *kept, "-C", str(image_root), "-c", "."]
    unpack = far.command("tar", *kept, "--xattrs-include=*", "--preserve-permissions", "-C", into, "-x")
    environment = {**tool_environment(), **variables()}
    with tempfile.TemporaryFile() as said:
        # Leaving the inner block closes our end of the pipe, so that a tar without a reader ends too.
        with subprocess.Popen(pack, stdout=subprocess.PIPE, stderr=said, env=environment) as packer:
            code = _unpack([*far.ssh(), unpack], packer, said, environment)
        if code != 0 or packer.returncode != 0:
            said.seek(0)
            last = next(
                reversed(said.read().decode(errors="replace").strip().splitlines()), "it said nothing"
            )
            raise NodeError(f"the image cannot be sent to {far.host}: {last}")


def _unpack(
    argv: list[str], packer: "subprocess.Popen[bytes]", said: IO[bytes], environment: Mapping[str, str]
) -> int:
    try:
        done = subprocess.run(
            argv,
            stdin=packer.stdout,
            stdout=subprocess.DEVNULL,
            stderr=said,
            timeout=_CARRY_LIMIT_S,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise NodeError(f"the image did not arrive within {_CARRY_LIMIT_S / 3600:.0f} h") from error
    return done.returncode
