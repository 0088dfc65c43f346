# SPDX-License-Identifier: Apache-2.0
"""What the runner tells a node's first process arrives as it was told."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.environments.environment_example import described

from tare.nodes.provider import Bind, NodeNetwork, NodeSpec
from tare.nodes.unprivileged.start_order import StartOrder
from tare.records import NetworkKind, Storage

paths = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1).map(
    lambda name: Path("/", name)
)
orders = st.builds(
    StartOrder,
    argv=st.lists(st.text(st.characters(exclude_categories=["Cs"]))).map(tuple),
    in_image=st.booleans(),
    system=st.booleans(),
    own_network=st.booleans(),
    data_limit_byte=st.none() | st.integers(1 << 24, 1 << 50),
    again=st.none() | paths,
)
specs = st.builds(
    described,
    folder=paths,
    image_root=paths,
    processors=st.lists(st.integers(0, 4095), min_size=1).map(tuple),
    cpu_quota=st.none() | st.floats(0.01, 64),
    binds=st.lists(st.builds(Bind, path=paths, writable=st.booleans())).map(tuple),
    network=st.builds(NodeNetwork, kind=st.sampled_from([NetworkKind.NONE, NetworkKind.HOST])),
    storage=st.sampled_from(Storage),
    shared_work=st.none() | paths,
)


@given(order=orders, spec=specs)
def test_order_and_node_survive_the_command_line(order: StartOrder, spec: NodeSpec) -> None:
    *_, value = order.command(spec)
    assert StartOrder.read(value) == (order, spec)
