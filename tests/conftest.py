# SPDX-License-Identifier: Apache-2.0
"""What tests share: Tare's own programs, an image, a state folder of their own, and a look at the machine."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from tare.errors import ImageError, NodeError
from tare.host.cgroups import PARENT, create_own_group, named_groups, remove_parent_if_empty
from tare.host.facts import online_processors
from tare.image.store import Image, find_image, install
from tare.nodes.provider import TOOLS_DIRECTORY
from tare.records import HostLoad
from tests.contract.contract_nodes import Lent
from tests.machine import HOLDER, Machine
from tests.turns import (  # noqa: F401 - pytest finds its hooks here
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_ignore_collect,
    pytest_runtest_protocol,
)

# The same examples in every run: whoever repeats the tests sees what we saw.
settings.register_profile("shared machine", deadline=None, derandomize=True)
settings.load_profile("shared machine")

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / "build" / "native"
os.environ["PATH"] = ":".join(  # scripts/build-runsc, scripts/build-apptainer
    [*(str(REPOSITORY / "build" / place) for place in ("gvisor", "apptainer/bin")), os.environ["PATH"]]
)


# A shell ignores interrupts in what it starts in the background, nohup(1) the terminal's end, and all that follows
# would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No preset of whoever runs the tests decides a result."""
    for name in list(os.environ):
        if (
            name.startswith(("OPENBLAS_", "OMP_", "OMPI_", "SLURM_", "TARE_"))
            and name != "TARE_DOCKERD_STARTING"
        ):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def quiet_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share the machine: what another process does decides no verdict but in a test marked ``busy_machine``."""
    if request.node.get_closest_marker("busy_machine") is None:
        quiet = HostLoad(processors=len(online_processors()), foreign=0.0)
        monkeypatch.setattr("tare.measure.campaign.look_before_start", lambda: quiet)
        monkeypatch.setattr("tare.measure.others.OthersWatch.load", lambda *_: quiet)


@pytest.fixture(autouse=True)
def no_energy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial has the same samples on every machine, whether it counts energy or not."""
    monkeypatch.setattr("tare.host.energy.ROOT", Path("/nowhere"))


@pytest.fixture(scope="session", autouse=True)
def common_group() -> Iterator[None]:
    """Keep the nodes' common group while tests run, since a campaign's end would remove it under a node's start."""
    name = HOLDER + os.environ.get("PYTEST_XDIST_WORKER", "alone")
    held = named_groups(f"{PARENT}/{name}").directories
    with suppress(NodeError, OSError):  # only root has groups
        create_own_group(name)
        for directory in held:
            directory.mkdir(parents=True, exist_ok=True)
    yield
    for directory in held:
        with suppress(OSError):
            directory.rmdir()
    remove_parent_if_empty()


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of the compiled programs; ``make setup`` builds them, and so does this when they are missing."""
    folder = BUILD / "bin"
    if not (folder / "stopwatch").exists():
        subprocess.run(
            ["cmake", "-S", str(REPOSITORY / "native"), "-B", str(BUILD), "-G", "Ninja"], check=True
        )
        subprocess.run(["cmake", "--build", str(BUILD)], check=True)
    return folder


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    folder = tmp_path / "state"
    monkeypatch.setenv("TARE_STATE", str(folder))
    return folder


@pytest.fixture
def fake_image(state: Path, programs: Path) -> Image:
    """An image that holds nothing but Tare's own programs, for the fake environment."""
    staged = state / "images" / ".staged"
    tools = staged / "rootfs" / TOOLS_DIRECTORY.lstrip("/")
    shutil.copytree(programs, tools)
    return install(staged, "default", {"packages": {}, "source": {"kind": "test"}})


@pytest.fixture(scope="session")
def image() -> Image:
    """The default image, as ``make setup`` builds it."""
    try:
        return find_image()
    except ImageError as error:
        pytest.skip(f"{error}; run make setup")


@pytest.fixture
def machine() -> Iterator[Machine]:
    """What this machine holds before a test; the test asks whether anything was added."""
    before = Machine.look()
    yield before
    left = Machine.look().beyond(before)
    assert not left, f"the test left {left}"


@pytest.fixture(scope="session")
def docker_daemon() -> None:
    """Skip where no daemon answers: the test command starts one."""
    if shutil.which("docker") is None:
        pytest.skip("the docker command is missing: apt-get install docker.io")
    done = subprocess.run(["docker", "version"], capture_output=True, check=False, timeout=30)
    if done.returncode != 0:
        pytest.skip("no Docker daemon answers; make test starts one")


@pytest.fixture(scope="module")
def lent() -> Iterator[Lent]:
    """Nodes that are left as they were; a machine takes seconds to start, so it serves several tests."""
    with Lent() as nodes:
        yield nodes
