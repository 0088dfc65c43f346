# SPDX-License-Identifier: Apache-2.0
"""Where the kernel has no overlayfs for ordinary users, a program makes the layer, and the node says so."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tests.unprivileged.ordinary_user import AS_ROOT, PYTHON, OrdinaryUser

pytestmark = [*AS_ROOT, pytest.mark.usefixtures("image", "machine")]
REFUSING = """
import sys
from tare.nodes.unprivileged.first_process import main
from tare.errors import NodeError
from tare.host import mounts
real = mounts.mount
def mount(source, target, kind, *rest):
    if kind == "overlay":
        raise NodeError("this kernel is old")
    real(source, target, kind, *rest)
mounts.mount = mount
sys.exit(main())
"""
"""The node's first process, on a kernel that refuses overlayfs."""
CODE = """
import os, sys
from pathlib import Path
from tests.contract.contract_nodes import execute, make_spec, running
from tare.environments import PROVIDERS
from tare.nodes.unprivileged.members import members
from tare.nodes.unprivileged.start_order import StartOrder
from tare.image.store import find_image
real = StartOrder.command
def command(order, spec):
    argv = real(order, spec)
    return [*argv[:argv.index("-c")], "-c", sys.argv[2], argv[-1]]
StartOrder.command = command
provider = PROVIDERS[sys.argv[1]]
spec = make_spec(provider, find_image(), Path(os.environ["TARE_STATE"]), cpu_quota=None)
with running(provider, spec) as (node,):
    print(node.facts["layer"])
    print(execute(provider, node, "sh", "-c", "echo x > /etc/hostname; cat /etc/hostname").stdout)
print(members(spec.name), list((Path(os.environ["TARE_STATE"]) / "nodes").iterdir()))
"""


@pytest.fixture
def device(user: OrdinaryUser) -> Path:
    """The device of fuse(4), open to everybody as most distributions have it."""
    if shutil.which("fuse-overlayfs") is None:
        pytest.skip("fuse-overlayfs is missing: apt-get install fuse-overlayfs")
    path = user.home / "fuse"
    os.mknod(path, stat.S_IFCHR, os.makedev(10, 229))
    path.chmod(0o666)
    return path


@pytest.mark.parametrize("technology", ["native", "bubblewrap"])
def test_a_program_makes_the_layer_and_ends_with_the_node(
    technology: str, device: Path, user: OrdinaryUser
) -> None:
    repository = str(Path(__file__).parents[2])
    argv = user.argv(PYTHON, "-c", CODE, technology, REFUSING, PYTHONPATH=repository)
    with_device = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /dev/fuse && exec "$@"', str(device)]
    done = subprocess.run([*with_device, *argv], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    layer, written, left = done.stdout.splitlines()
    assert layer == "fuse-overlayfs on tmpfs, in a user namespace"
    assert written == "b'x\\n'"
    assert left == "[] []"
