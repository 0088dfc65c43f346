# SPDX-License-Identifier: Apache-2.0
"""Host directories mounted in every node at the same path: ``DIR``, ``DIR:ro`` or ``DIR:rw``."""

from pathlib import Path

from tare.nodes.provider import WORK_DIRECTORY, Bind

_HIDING = (
    "/",
    "/bin",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/mnt",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
)
"""A bind of one of these would hide the image's own directory, and other binaries would run."""


def normal_bind(text: str) -> str:
    """The absolute path and its mode, as campaigns store it; the ``ValueError`` says what is wrong."""
    path, separator, mode = text.rpartition(":")
    if not separator:
        path, mode = text, "ro"
    if mode not in {"ro", "rw"} or not path:
        raise ValueError(f"{text!r}: write DIR, DIR:ro or DIR:rw")
    resolved = Path(path).resolve()
    if not resolved.is_dir():
        raise ValueError(f"there is no directory {path!r} on this host")
    if ":" in str(resolved) or "\n" in str(resolved):
        raise ValueError(
            f"{path!r} has a colon or a line break in its name, which some environments cannot bind"
        )
    if str(resolved) in {*_HIDING, WORK_DIRECTORY}:
        raise ValueError(f"{path!r} would hide the image's own; bind the folders that the command needs")
    return f"{resolved}:{mode}"


def parse_bind(kept: str) -> Bind:
    """Parse the result of ``normal_bind``."""
    path, _, mode = kept.rpartition(":")
    return Bind(path=Path(path), writable=mode == "rw")
