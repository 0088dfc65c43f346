# SPDX-License-Identifier: Apache-2.0
"""Devices of a campaign: found here, alike in every arm, open to the command, with what their driver brings along."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.contract.contract_nodes import devices_in, made_devices
from tests.environments.environment_example import described
from tests.fake_campaign import command_workload, fake_campaign, fake_context
from tests.host.device_trees import VERSION, nvidia_host, write
from tests.measure.test_measure_trial import a_trial

from tare.environments.bubblewrap import Bubblewrap
from tare.environments.native import Native
from tare.errors import HostError, UnequalArms
from tare.host import standing
from tare.host.devices import Driver, nvidia_driver
from tare.image.store import Image
from tare.measure import devices
from tare.measure.context import Context
from tare.measure.devices import require_given, with_libraries
from tare.measure.parity import expected_parity, require_equal
from tare.measure.trial import run_trial
from tare.nodes import given as given_here
from tare.nodes.devices import Device, said
from tare.nodes.given import Given, given, library_folder, provided
from tare.nodes.provider import Bind, Elsewhere, Node, NodeSpec, Provider
from tare.plan.campaign import Campaign
from tare.records import NamedHost, Outcome, Parity, Rule, Status, User, Workload

ORDINARY = User(65530, 65530)
CUDA = f"libcuda.so.{VERSION}"


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return nvidia_driver(nvidia_host(tmp_path / "host"), "x86_64")


def variables(workload: Workload) -> object:
    return workload.options.get("variables")


def gpu_campaign(**options: list[str]) -> Campaign:
    workload = Workload(name="work", kind="command", options={"argv": ["true"], **options})
    return replace(fake_campaign(workload=workload), devices=("nvidia",))


def test_nothing_is_given_where_nothing_is_asked() -> None:
    assert given((), ORDINARY) == Given()


def test_a_device_that_this_host_has_not_ends_the_run_in_a_sentence() -> None:
    with pytest.raises(HostError, match="/dev/tare-none cannot be looked at: No such file"):
        given(["/dev/tare-none"], None)


def test_a_stored_campaign_gets_no_device_that_a_campaign_file_may_not_have() -> None:
    with pytest.raises(HostError, match=r"'/dev/mem' is a device that .* no command may have"):
        given(["/dev/mem"], None)


def test_the_libraries_are_copied_once_and_anew_for_another_driver(driver: Driver, tmp_path: Path) -> None:
    folder = provided(driver, tmp_path / "drivers" / "nvidia")
    assert {path.name for path in folder.iterdir()} == set(driver.files)
    assert (folder / "libcuda.so.1").read_text() == "cuda"
    assert (folder / "libcuda.so.1").is_symlink()
    before = (folder / CUDA).stat().st_ino
    assert provided(driver, folder) == folder
    assert (folder / CUDA).stat().st_ino == before
    newer = Driver(version="580", files={"libcuda.so.580": write(tmp_path, {"new": "newer"}) / "new"})
    provided(newer, folder)
    assert {path.name: path.read_text() for path in folder.iterdir() if not path.is_symlink()} == {
        "new": "newer"
    }


@pytest.mark.usefixtures("state")
def test_commands_look_for_libraries_in_the_drivers_folder_first() -> None:
    stated = gpu_campaign(variables=["A=1", "LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/opt"])
    once = with_libraries(stated)
    assert variables(once.workloads[0]) == [
        "A=1",
        f"LD_LIBRARY_PATH={library_folder()}:/usr/local/nvidia/lib64:/opt",
    ]
    assert with_libraries(once) == once
    bare = with_libraries(gpu_campaign())
    assert variables(bare.workloads[0]) == [f"LD_LIBRARY_PATH={library_folder()}"]


@pytest.mark.usefixtures("state")
def test_other_devices_and_other_kinds_of_workloads_keep_their_variables() -> None:
    fuse, kind = (
        replace(gpu_campaign(), devices=("/dev/fuse",)),
        replace(fake_campaign(), devices=("nvidia",)),
    )
    assert (with_libraries(fuse), with_libraries(kind)) == (fuse, kind)


def test_an_arm_with_other_devices_is_unequal() -> None:
    fuse = [Device(path=Path("/dev/fuse"), major=10, minor=229)]
    require_equal(Parity(host={"devices": said(fuse)}), devices.expected(fuse), "docker")
    with pytest.raises(UnequalArms, match="docker has devices /dev/fuse missing instead of /dev/fuse 10:229"):
        require_equal(Parity(host={"devices": "/dev/fuse missing"}), devices.expected(fuse), "docker")


def test_a_node_on_another_host_that_shows_other_devices_is_unequal() -> None:
    fuse = Device(path=Path("/dev/fuse"), major=10, minor=229)
    options = {"below": "docker", "host": "node17"}
    node = Node(spec=described(options=options, devices=(fuse,)), init_pid=None, elsewhere=Elsewhere())
    require_given(node)
    require_given(replace(node, facts={"devices": said([fuse])}))
    with pytest.raises(
        UnequalArms, match="docker on node17 has devices /dev/fuse missing instead of /dev/fuse 10:229"
    ):
        require_given(replace(node, facts={"devices": "/dev/fuse missing"}))


def test_commands_over_hosts_look_for_libraries_where_any_of_the_hosts_has_them() -> None:
    hosts = (NamedHost(name="a", address="a"), NamedHost(name="b", address="b", state="/scratch/tare"))
    (workload,) = with_libraries(replace(gpu_campaign(), hosts=hosts)).workloads
    assert variables(workload) == [
        "LD_LIBRARY_PATH=/var/lib/tare/drivers/nvidia:/scratch/tare/drivers/nvidia"
    ]


class Forgetful(Native):
    """Starts its nodes without the devices."""

    def start(self, spec: NodeSpec) -> Node:
        return replace(super().start(replace(spec, devices=())), spec=spec)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and device nodes")
class TestInRealNodes:
    @pytest.fixture
    def folder(self) -> Iterator[Path]:
        with made_devices() as made:
            yield made

    @pytest.fixture
    def real(
        self,
        tmp_path: Path,
        programs: Path,
        image: Image,
        state: Path,  # noqa: ARG002 - nodes lie there
        folder: Path,
    ) -> Iterator[Context]:
        own = devices_in(folder)
        with standing.plain():
            yield replace(
                fake_context(tmp_path, programs),
                image_root=image.root,
                image_digest=image.digest,
                devices=own,
                user=ORDINARY,
                expected={**expected_parity("test"), **devices.expected(own)},
            )

    def run(self, context: Context, provider: Provider, *argv: str) -> Outcome:
        own = replace(context, providers={provider.technology: provider})
        return run_trial(own, a_trial(command_workload(*argv), provider.technology))

    def test_a_trial_records_the_devices_that_its_command_opened(self, real: Context, folder: Path) -> None:
        outcome = self.run(real, Native(), "head", "--bytes=1", str(folder / "zero"))
        assert (outcome.status, outcome.reason) == (Status.OK, None)
        assert outcome.parity.host["devices"] == said(real.devices)

    def test_an_arm_without_them_is_void_and_not_silently_compared(self, real: Context) -> None:
        outcome = self.run(real, Forgetful(), "true")
        assert (outcome.status, outcome.excluded_by) == (Status.INVALID, Rule.UNEQUAL)
        assert "zero missing" in (outcome.reason or "")

    def test_a_device_that_the_command_may_not_open_fails_the_trial_before_it_runs(
        self, real: Context, folder: Path
    ) -> None:
        (folder / "fuse").chmod(0o600)
        outcome = self.run(real, Native(), "true")
        assert outcome.status is Status.FAILED
        assert f"the command may not open {folder / 'fuse'} in native" in (outcome.reason or "")

    def test_a_closed_device_is_refused_before_anything_starts(self, folder: Path) -> None:
        (folder / "fuse").chmod(0o600)
        with pytest.raises(HostError, match=r"fuse is crw------- of user 0, .* --as root"):
            given([str(folder / "fuse")], ORDINARY)
        assert given([str(folder / "fuse")], None).devices

    @pytest.mark.parametrize("provider", [Native(), Bubblewrap()], ids=lambda provider: provider.technology)
    def test_a_command_reads_the_drivers_libraries_where_its_variable_leads(
        self, real: Context, driver: Driver, provider: Provider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(given_here, "find_devices", lambda _: real.devices)
        monkeypatch.setattr(given_here, "nvidia_driver", lambda: driver)
        own = given(["nvidia"], ORDINARY)
        assert own == Given(devices=real.devices, binds=(Bind(path=library_folder()),))
        script = 'IFS=:; set -- $LD_LIBRARY_PATH; test "$(cat "$1/libcuda.so.1")" = cuda && ! touch "$1/new"'
        (workload,) = with_libraries(
            replace(fake_campaign(workload=command_workload("sh", "-c", script)), devices=("nvidia",))
        ).workloads
        context = replace(real, binds=own.binds, providers={provider.technology: provider})
        outcome = run_trial(context, a_trial(workload, provider.technology))
        assert (outcome.status, outcome.reason) == (Status.OK, None)
