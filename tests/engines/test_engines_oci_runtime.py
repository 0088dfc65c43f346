# SPDX-License-Identifier: Apache-2.0
"""OCI runtimes: what becomes of the configuration that a runtime's own ``spec`` has written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REPOSITORY
from tests.environments.environment_example import MEBIBYTE, described

from tare.engines.oci_runtime import OwnConfiguration, completed, parse
from tare.errors import NodeError
from tare.nodes.devices import Device
from tare.nodes.provider import Bind, NodeNetwork, NodeSpec
from tare.records import NetworkKind

RECORDED = sorted((REPOSITORY / "tests" / "outputs" / "oci").glob("*-spec.json"))
ADDED = {"CAP_CHOWN", "CAP_SETGID", "CAP_SETUID"}


@pytest.fixture(params=RECORDED, ids=lambda path: path.stem)
def own(request: pytest.FixtureRequest) -> OwnConfiguration:
    return parse(request.param.read_bytes(), "runtime")


def told(own: OwnConfiguration, spec: NodeSpec | None = None) -> Mapping[str, Any]:
    return completed(own, spec or described(), Path("/state/root"))


def by_target(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    return {mount["destination"]: mount for mount in configuration["mounts"]}


def test_the_confinement_is_the_runtimes_own(own: OwnConfiguration) -> None:
    before: Mapping[str, Any] = own
    after = told(own)
    for kept in ("maskedPaths", "readonlyPaths", "resources"):
        assert after["linux"][kept] == before["linux"][kept]
    assert after["process"]["noNewPrivileges"] is True
    assert "seccomp" not in after["linux"]


def test_somebody_in_the_node_can_become_the_commands_user(own: OwnConfiguration) -> None:
    after = told(own)["process"]["capabilities"]
    for kind in ("bounding", "effective", "permitted"):
        assert set(after[kind]) == {*own["process"]["capabilities"][kind], *ADDED}


def test_limits_of_resources_are_the_runners(own: OwnConfiguration) -> None:
    assert told(own)["process"]["rlimits"] == []


def test_the_first_process_attends_in_a_writable_root(own: OwnConfiguration) -> None:
    after = told(own)
    assert after["process"]["args"] == ["/opt/tare/bin/init", "attend", "/mnt/tare/.tare-1"]
    assert after["root"] == {"path": "/state/root"}
    assert after["process"]["terminal"] is False
    assert after["hostname"] == "tare-1"


def test_shm_has_the_size_that_was_asked_for_and_its_other_options(own: OwnConfiguration) -> None:
    assert by_target(told(own))["/dev/shm"]["options"] == [
        *("nosuid", "noexec", "nodev", "mode=1777", f"size={16 * MEBIBYTE}")
    ]


def test_work_and_bound_folders_are_mounted_last(own: OwnConfiguration) -> None:
    after = told(own, described(binds=(Bind(path=Path("/data/in,put")),)))
    work, bound = after["mounts"][-2:]
    assert (work["source"], work["destination"]) == ("/state/nodes/tare-1/layer/work", "/mnt/tare")
    assert (bound["destination"], bound["options"]) == ("/data/in,put", ["rbind", "ro"])


def test_the_network_is_the_nodes_or_the_hosts(own: OwnConfiguration) -> None:
    made = NodeNetwork(namespace=Path("/nodes/tare-1/network"))
    kinds = {"pid", "ipc", "uts", "mount"}
    joined = told(own, described(network=made))["linux"]["namespaces"]
    assert {"type": "network", "path": "/nodes/tare-1/network"} in joined
    assert {entry["type"] for entry in joined} >= {*kinds, "network"}
    shared = told(own, described(network=NodeNetwork(kind=NetworkKind.HOST)))["linux"]["namespaces"]
    assert "network" not in {entry["type"] for entry in shared}


@pytest.mark.parametrize("text", [b"", b"{}", b'{"process": {"capabilities": 5}, "mounts": [], "linux": {}}'])
def test_what_is_no_configuration_is_told(text: bytes) -> None:
    with pytest.raises(NodeError, match="what runc spec prints is not understood"):
        parse(text, "runc")


def test_a_device_is_made_as_the_hosts_and_allowed_after_the_runtimes_own_rules(
    own: OwnConfiguration,
) -> None:
    null = Device(path=Path("/dev/null"), major=1, minor=3)
    linux = told(own, described(devices=(null,)))["linux"]
    (made,) = linux["devices"]
    assert (made["path"], made["type"], made["major"], made["minor"]) == ("/dev/null", "c", 1, 3)
    assert (made["fileMode"], made["uid"], made["gid"]) == (0o666, 0, 0)
    *before, last = linux["resources"]["devices"]
    assert before == own["linux"].get("resources", {}).get("devices")
    assert last == {"allow": True, "type": "c", "major": 1, "minor": 3, "access": "rwm"}
    with pytest.raises(NodeError, match="cannot have /dev/tare-none: No such file"):
        told(own, described(devices=(Device(path=Path("/dev/tare-none"), major=1, minor=3),)))
