# SPDX-License-Identifier: Apache-2.0
"""A whole node: its machine on the simulated vCenter, and in the place of its system a server of this host."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.environments.environment_example import MEBIBYTE
from tests.environments.far_example import far_spec, inside, leftovers
from tests.environments.loopback_sshd import Sshd
from tests.environments.vmware.simulated_vcenter import Vcenter

from tare.environments import PROVIDERS
from tare.errors import NodeError
from tare.host.cgroups import Settings
from tare.image.store import Image
from tare.measure.clean import remove_leftovers
from tare.measure.context import Context
from tare.measure.trial import run_trial
from tare.node_life import start_node, stop_node
from tare.nodes.provider import NodeNetwork, NodeSpec
from tare.records import Environment, Layout, Limits, Status, Trial, Workload

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root for its nodes")]
PROVIDER = PROVIDERS["vmware"]


@pytest.fixture
def spec(vcenter: Vcenter, sshd: Sshd, far: Path, image: Image, state: Path) -> Iterator[NodeSpec]:
    options = {**vcenter.options(), **sshd.reach(far)}
    made = far_spec(options, image, state, technology="vmware", processors=(0,), network=NodeNetwork())
    yield made
    left = leftovers(far, made.name)
    PROVIDER.stop(made)
    assert left == []
    assert made.name not in vcenter.ask("find", "/", "-type", "m")


def test_a_node_runs_in_its_machine_under_its_limits_and_goes_with_it(
    spec: NodeSpec, vcenter: Vcenter
) -> None:
    node = start_node(spec, PROVIDER)
    assert "poweredOn" in vcenter.ask("vm.info", "-json", spec.name)
    done = inside(node, "sh", "-c", "cat; exit 7", given=b"\x00\xff")
    assert (done.returncode, done.stdout) == (7, b"\x00\xff")
    group = PROVIDER.group(node)
    assert group is not None
    assert group.settings() == Settings(processors=(0,), memory_byte=200 * MEBIBYTE, cpu_quota=0.5)
    assert group.cpu_s() is None
    assert node.own_kernel
    assert node.facts["hypervisor"].startswith("VMware ESXi")
    stop_node(spec, PROVIDER)
    assert not spec.directory.exists()


def test_a_new_copy_at_the_same_address_is_given_everything_anew(spec: NodeSpec, far: Path) -> None:
    start_node(spec, PROVIDER)
    stop_node(spec, PROVIDER)
    shutil.rmtree(far / "code")
    node = start_node(spec, PROVIDER)
    assert inside(node, "true").returncode == 0
    stop_node(spec, PROVIDER)


def test_a_run_that_knows_its_record_alone_takes_it_away(spec: NodeSpec) -> None:
    start_node(spec, PROVIDER)
    assert remove_leftovers().removed == [spec.name]


def test_limits_that_the_hypervisor_no_longer_keeps_are_found(spec: NodeSpec, vcenter: Vcenter) -> None:
    node = start_node(spec, PROVIDER)
    vcenter.ask("vm.change", "-vm", spec.name, "-m", "64", "-cpu.limit", "-1")
    group = PROVIDER.group(node)
    assert group is not None
    with pytest.raises(NodeError, match="byte of memory, and has"):
        group.settings()
    stop_node(spec, PROVIDER)


def test_a_machine_that_is_on_is_left_alone(spec: NodeSpec, vcenter: Vcenter) -> None:
    placed = ("-pool", "/DC0/host/DC0_H0/Resources", "-ds", "LocalDS_0")
    vcenter.ask("vm.clone", "-vm", "DC0_H0_VM1", *placed, spec.name)
    with pytest.raises(NodeError, match="is on already"):
        start_node(spec, PROVIDER)
    stop_node(spec, PROVIDER)
    assert "poweredOn" in vcenter.ask("vm.info", "-json", spec.name)
    vcenter.ask("vm.destroy", spec.name)


def test_a_trial_is_measured_in_it(spec: NodeSpec, image: Image, tmp_path: Path, vcenter: Vcenter) -> None:
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=tmp_path / "raw",
        available_processors=(0,),
    )
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=Environment(name="vsphere", technology="vmware", options=spec.options),
        replicate=0,
        layout=Layout.parse("1c1p1i"),
        workload=Workload(name="burn", kind="command", options={"argv": ["{tools}/burn", "1000"]}),
        limits=Limits(memory_byte=256 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=60.0, cpu_quota=0.5),
    )
    outcome = run_trial(context, trial)
    assert outcome.status is Status.OK, outcome.reason
    assert outcome.facts["CPU quota"] == "0.5 processors"
    assert outcome.facts["virtual hardware"].startswith("vmx-")
    assert "tare-" not in vcenter.ask("find", "/", "-type", "m")
