# SPDX-License-Identifier: Apache-2.0
"""The image, from here to another host."""

import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TypedDict

from tare.environments.ssh.channel import Channel
from tare.environments.ssh.connection import Far, failed, variables
from tare.errors import NodeError
from tare.host.privileges import ordinary_user
from tare.host.process import tool_environment
from tare.image.packed import pack_argv, unpack_argv

_CHECK_LIMIT_S = 900.0
_CARRY_LIMIT_S = 4 * 3600.0
_sending = threading.BoundedSemaphore(8)
"""Images on their way at the same time: more would only share this host's line to the network."""


class _Place(TypedDict):
    into: str | None
    """``None``: it is already there."""


def carry(far: Far, channel: Channel, image_root: Path, image_digest: str) -> None:
    """Copy the image there if needed; ``NodeError`` if it cannot be sent, or arrives changed."""
    seen = far.seen(image_root)
    into = channel.ask("find image", digest=image_digest, seen=seen, limit_s=_CHECK_LIMIT_S).told(_Place)[
        "into"
    ]
    if into is not None:
        with _sending:
            _send(far, image_root, into)
        channel.ask("finish image", limit_s=_CHECK_LIMIT_S)


def _send(far: Far, image_root: Path, into: str) -> None:
    """From tar here to tar there."""
    pack, unpack = pack_argv(image_root), far.command(*unpack_argv(into))
    environment = {**tool_environment(), **variables()}
    with tempfile.TemporaryFile() as said:
        # Leaving the inner block closes our end of the pipe, so that a tar without a reader ends too.
        with subprocess.Popen(pack, stdout=subprocess.PIPE, stderr=said, env=environment) as packer:
            code = _unpack([*far.ssh(), unpack], packer, said, environment)
        if code != 0 or packer.returncode != 0:
            said.seek(0)
            words = said.read().decode(errors="replace")
            raise failed(far, code, words) or NodeError(
                f"the image cannot be sent to {far.host}: {_first_error(words)}{_remedy(far)}", words
            )


def _first_error(words: str) -> str:
    """What went wrong first: the last line only says that something did."""
    return next(iter(words.strip().splitlines()), "it said nothing")


def _remedy(far: Far) -> str:
    if not ordinary_user():
        return ""
    return (
        "; an ordinary user can carry only an image of their own (tare image build), or use one that "
        f"{far.host} has at the same place, such as on a shared file system"
    )


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
