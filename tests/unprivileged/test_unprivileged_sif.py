# SPDX-License-Identifier: Apache-2.0
"""An ordinary user's Apptainer has a FUSE program mount the SIF; the node says so, and counts it as a helper."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests.contract.bare_tools import make_root
from tests.unprivileged.ordinary_user import AS_ROOT, PYTHON, OrdinaryUser

from tare.image.store import Image

pytestmark = [*AS_ROOT, pytest.mark.usefixtures("machine")]
CODE = """
import os, sys
from pathlib import Path
from tests.contract.contract_nodes import execute, make_spec, running
from tare.environments import PROVIDERS
from tare.nodes.unprivileged.members import members
from tare.image.store import Image
provider = PROVIDERS["apptainer"]
state = Path(os.environ["TARE_STATE"])
state.mkdir(mode=0o700)
spec = make_spec(provider, Image("small", Path(sys.argv[1]), "sha256:" + "5" * 64), state, cpu_quota=None)
print(provider.probe().version)
with running(provider, spec) as (node,):
    print(node.facts["root files"])
    print([Path(f"/proc/{pid}/comm").read_text() for pid in provider.helpers(node)])
    print(execute(provider, node, "/opt/tare/bin/burn", "1000").returncode)
    print(Path(f"/proc/{node.init_pid}/root/secret").exists())
print(members(spec.name), os.listdir(state / "nodes"), sorted(os.listdir(state / "sifs")))
"""


FAKED = """
import os
from pathlib import Path
from tests.contract.contract_nodes import execute, make_spec, running
from tests.real_environments import QUICKLY
from tare.environments import PROVIDERS, apptainer_sif
from tare.image.store import find_image
from tare.nodes.unprivileged.members import members
apptainer_sif.COMPRESSION = QUICKLY
provider = PROVIDERS["apptainer"].configured({"fakeroot": True})
state = Path(os.environ["TARE_STATE"])
state.mkdir(mode=0o700)
spec = make_spec(provider, find_image(), state, cpu_quota=None)
with running(provider, spec) as (node,):
    print(node.facts["fakeroot"])
    print(sorted(Path(f"/proc/{pid}/comm").read_text() for pid in provider.helpers(node)))
    variables = [f"{name}={value}" for name, value in node.variables.items()]
    given = ["sh", "-c", "touch /tmp/x && chown 7:8 /tmp/x && stat -c %u:%g /tmp/x"]
    print(execute(provider, node, "env", *variables, *given).stdout)
print(members(spec.name))
"""


@pytest.fixture
def device(user: OrdinaryUser) -> Path:
    """The device of fuse(4), open to everybody as most distributions have it."""
    for program in ("apptainer", "mksquashfs", "squashfuse_ll"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is missing: make setup-test")
    path = user.home / "fuse"
    os.mknod(path, stat.S_IFCHR, os.makedev(10, 229))
    path.chmod(0o666)
    return path


@pytest.fixture
def small(user: OrdinaryUser, image: Image) -> Path:
    """The least that can be run, with a file that the user may not read."""
    root = make_root(user.home / "small", image.root)
    for name in ("burn", "enter", "join", "stopwatch"):
        shutil.copy2(image.root / "opt/tare/bin" / name, root / "opt/tare/bin" / name)
    (root / "secret").write_text("root's")
    (root / "secret").chmod(0o600)
    return root


def lines_of(user: OrdinaryUser, device: Path, *code: str) -> list[str]:
    """What a Python program of the user's prints, where the device is open."""
    argv = user.argv(PYTHON, "-c", *code, PYTHONPATH=str(Path(__file__).parents[2]))
    with_device = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /dev/fuse && exec "$@"', str(device)]
    done = subprocess.run([*with_device, *argv], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_program_serves_the_sif_and_ends_with_the_node(
    device: Path, small: Path, user: OrdinaryUser
) -> None:
    version, files, helpers, code, secret, left = lines_of(user, device, CODE, str(small))
    assert version.endswith("from a SIF")
    assert files == "SIF, mounted by squashfuse_ll, under overlay"
    assert helpers == "['squashfuse_ll\\n']"
    assert (code, secret) == ("0", "False")
    assert left == f"[] [] ['.lock', '{'5' * 64}.sif']"


@pytest.mark.usefixtures("image")
def test_with_fakeroot_each_command_has_the_library_and_the_daemon_is_a_helper(
    device: Path, user: OrdinaryUser
) -> None:
    if shutil.which("fakeroot") is None:
        pytest.skip("fakeroot is missing: apt-get install fakeroot")
    fact, helpers, owner, left = lines_of(user, device, FAKED)
    assert fact == "a preloaded library and its daemon"
    assert helpers == "['faked\\n', 'squashfuse_ll\\n']"
    assert (owner, left) == ("b'7:8\\n'", "[]")
