# SPDX-License-Identifier: Apache-2.0
"""What tests share: Tare's own programs, an image, a state folder of their own, and a look at the machine."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tare.environments.provider import TOOLS_DIRECTORY
from tare.errors import ImageError
from tare.host.cgroups import remove_parent_if_empty
from tare.image.store import Image, find_image, install
from tests.contract.contract_nodes import Lent
from tests.machine import Machine

# The same examples in every run: whoever repeats the tests sees what we saw.
settings.register_profile("shared machine", deadline=None, derandomize=True)
settings.load_profile("shared machine")

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / "build" / "native"
os.environ["PATH"] = f"{REPOSITORY / 'build' / 'gvisor'}:{os.environ['PATH']}"  # scripts/build-runsc


# A shell ignores interrupts in what it starts in the background, and all that follows would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


BESIDE = {
    "tests",
    "analyze",
    "calibrate",
    "commands",
    "journal",
    "native",
    "npb",
    "plan",
    "profile",
    "report",
    "scripts",
    "treat",
    "workloads",
}
"""Folders of tests that start nothing, or nothing but campaigns of fakes or programs outside of any node. All
others hold the machine: one by one."""
ALONE = {
    "test_commands_image",
    "test_docs",
    "test_doctor",
    "test_native_guest_ending",
    "test_report_curves",
    "test_scripts_with_dockerd",
}
"""Files there that start more all the same, as those do that end in ``_real``."""
FAKED = {"test_measure_clock_watch", "test_measure_session"}
"""Files elsewhere that start no node either."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let light tests run beside the others: ``make test`` has two processes, and a group stays in one of them."""
    for item in items:
        alone = (
            (item.path.parent.name not in BESIDE and item.path.stem not in FAKED)
            or item.path.stem in ALONE
            or item.path.stem.endswith("_real")
            or "machine" in getattr(item, "fixturenames", ())
        )
        item.add_marker(pytest.mark.xdist_group("machine" if alone else item.path.stem))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to go on without the groups: pytest 9.2 drops the names that pytest-xdist 3.8 gives them."""
    if hasattr(session.config, "workerinput") and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError(
            "the tests' groups are lost, so nodes would be tested in two processes at once"
        )


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No preset of whoever runs the tests decides a result."""
    for name in list(os.environ):
        if name.startswith(("OPENBLAS_", "OMP_", "OMPI_", "TARE_")) and name != "TARE_DOCKERD_STARTING":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session", autouse=True)
def no_group_outlives_the_tests() -> Iterator[None]:
    """Nodes that tests start by hand leave the empty common group, which a campaign's end would remove."""
    yield
    if os.geteuid() == 0:
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
