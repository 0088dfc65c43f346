# SPDX-License-Identifier: Apache-2.0
"""An ordinary user's image: every file is the user's own, so that the root of the user's nodes owns it all.

Other owners, device nodes, set-user-id bits and file capabilities are left out: only root could make the first, and a
set-user-id file of the user's would give the user's rights to everybody on this host.
"""

import os
import pwd
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from tare.errors import HostError
from tare.host.distribution import to_install
from tare.image import recipe
from tare.image.archive import unpack
from tare.image.tool import Progress, require_tools, run_tool

_SUBORDINATE = (Path("/etc/subuid"), Path("/etc/subgid"))
_SET_ID = stat.S_ISUID | stat.S_ISGID


def why_no_packages(files: Sequence[Path] = _SUBORDINATE) -> str | None:
    """Why this user cannot install Debian packages into a folder; ``None`` when nothing is in the way (subuid(5))."""
    names = {str(os.geteuid()), _user_name()}
    for path in files:
        try:
            lines = path.read_text().splitlines()
        except OSError:
            lines = []
        if not any(line.partition(":")[0] in names for line in lines):
            return f"{path} gives this user no subordinate ids"
    return None if shutil.which("newuidmap") else f"the program newuidmap is missing ({to_install('uidmap')})"


def require_packages() -> None:
    """Raise ``HostError`` with the ways out when an ordinary user cannot build an image."""
    if why := why_no_packages():
        raise HostError(
            f"Without root, building an image takes subordinate ids, and {why}. Ask the administrator to run "
            "`tare image build` once as root, which all users of this host can then run, or for subordinate ids "
            "(usermod --add-subuids); or take a root filesystem of your own: tare image import."
        )


def fetch(
    options: Sequence[str], target: Path, *, limit_s: float, progress: Progress, variables: Mapping[str, str]
) -> None:
    """Put Debian packages into ``target``, all of it this user's own; ``require_packages`` must hold.

    ``options`` are mmdebstrap(1)'s.
    """
    require_tools({"mmdebstrap": "mmdebstrap", "newuidmap": "uidmap"})
    archive = target.with_name(f"{target.name}.tar")
    argv = ["mmdebstrap", "--mode=unshare", "--format=tar", *options]
    argv += [recipe.SUITE, str(archive), *recipe.sources()]
    try:
        run_tool(
            argv, limit_s=limit_s, on_line=progress, variables={"TMPDIR": str(target.parent), **variables}
        )
        unpack(archive, target)
    finally:
        archive.unlink(missing_ok=True)
    make_own(target)


def make_own(root: Path) -> None:
    """Make the tree readable by its owner, without set-user-id and set-group-id bits."""
    for folder, names, files in os.walk(root):
        for path in (Path(folder, name) for name in (*names, *files)):
            mode = path.lstat().st_mode
            wanted = (mode | (stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR)) & ~_SET_ID
            if not stat.S_ISLNK(mode) and wanted != mode:
                path.chmod(stat.S_IMODE(wanted))


def _user_name() -> str:
    """The user's name; empty when the host has none."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""
