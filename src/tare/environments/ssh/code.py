# SPDX-License-Identifier: Apache-2.0
"""Copying Tare itself to the other host: the modules that start nodes, which use only the standard library."""

import functools
import gzip
import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

import tare
from tare.environments.ssh.connection import Far, failed, last_words, variables
from tare.errors import NodeError
from tare.host.distribution import to_install
from tare.host.process import tool_environment

_PARTS = (
    *("__init__", "errors", "node_life", "on_demand", "records", "units", "untrusted"),
    *("engines", "environments", "far", "guests", "host", "image", "network", "nodes", "signals"),
    *("statistics/__init__", "statistics/estimate"),
)
"""Modules, and packages whole."""
_LIMIT_S = 60.0
_PLACE = """\
set -eu
code=$1/code/$2
for folder in "$1" "$1/code" "$code"; do
    [ ! -e "$folder" ] || [ -O "$folder" ] || { echo "$folder belongs to another user" >&2; exit 1; }
done
[ -d "$code" ] && exec cat >/dev/null
umask 022
mkdir -p "$1/code"
part=$(mktemp -d "$1/code/part.XXXXXX")
tar -xzf - -C "$part" || { rm -rf "$part"; exit 1; }
chmod 755 "$part"
mv -T "$part" "$code" || rm -rf "$part"
"""
"""For sh there: $1 is the state folder, $2 the code's digest, the archive comes on standard input."""
_placed: set[Far] = set()


def start_file(far: Far) -> str:
    """The far side's program, where ``place`` puts it."""
    return f"{far.state}/code/{_digest()}/tare/far/start.py"


def place(far: Far) -> None:
    """Copy this version's code there if it is missing, once per process; ``NodeError`` says why it could not."""
    if far.way in _placed:
        return
    argv = [*far.ssh(), far.command("sh", "-c", _PLACE, "sh", far.state, _digest())]
    try:
        done = subprocess.run(
            argv,
            input=archive(),
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
            env={**tool_environment(), **variables()},
        )
    except subprocess.TimeoutExpired as error:
        raise NodeError(f"{far.host} did not take Tare's own code within {_LIMIT_S:.0f} s") from error
    except OSError as error:
        package = {"ssh": "openssh-client", "srun": "slurm-client"}[far.by]
        raise NodeError(f"{far.by} cannot be started: {error.strerror}; {to_install(package)}") from error
    said = done.stderr.decode(errors="replace")
    if lost := failed(far, done.returncode, said):
        raise lost
    if done.returncode != 0:
        words = last_words(said)
        raise NodeError(f"{far.host} cannot take Tare's own code into {far.state}: {words}", said)
    _placed.add(far.way)


def forget(far: Far) -> None:
    """Check again whether it is there: this name may now be another machine's, or one restored."""
    _placed.discard(far.way)


@functools.cache
def archive() -> bytes:
    """A gzipped tar of the modules, the same for the same sources."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _modules():
            content = path.read_bytes()
            member = tarfile.TarInfo(f"tare/{path.relative_to(_source())}")
            member.size, member.mode = len(content), 0o644
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@functools.cache
def _digest() -> str:
    return hashlib.sha256(archive()).hexdigest()[:24]


def _modules() -> list[Path]:
    parts = [_source() / part for part in _PARTS]
    modules = [part.rglob("*.py") if part.is_dir() else [part.with_suffix(".py")] for part in parts]
    return sorted(path for paths in modules for path in paths)


def _source() -> Path:
    return Path(tare.__file__).parent
