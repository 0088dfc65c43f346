# SPDX-License-Identifier: Apache-2.0
"""Code shared by environments whose nodes are machines that a hypervisor's tool starts and stops.

A technology provides a ``Machine``: what its tool does with one machine, all through argv. ``Managed`` does the rest
for machines that the user provides: it switches one on, waits until ssh(1) is answered, has the ``ssh`` environment
copy the image there and start the node inside, and switches it off again (docs/libvirt.md, docs/hosts.md). ``Either``
is for technologies whose nodes may also be machines of Tare's own, as in ``guests``.
"""

from collections.abc import Mapping, Sequence

from tare.nodes.provider import DEVICES_OF_A_GUEST, Node, NodeGroup, NodeSpec, Probe, Provider
from tare.records import OptionValue


class Either(Provider):
    """Passes everything on to ``brought`` where the option ``domain`` is set, else to ``own``."""

    makes_namespace = True
    own_kernel = True
    device_refusal = DEVICES_OF_A_GUEST
    """In the machine, or none at all: nothing of it is made here."""
    own: Provider
    brought: Provider

    def _chosen(self, options: Mapping[str, OptionValue]) -> Provider:
        return self.brought if "domain" in options else self.own

    def check_options(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        """What is wrong with the options, first the options that only the other kind has."""
        chosen = self._chosen(options)
        where = "the user's domain" if chosen is self.brought else "a machine of Tare's own; say which domain"
        foreign = {
            name: f"means nothing for {where}"
            for name in options
            if name in self.option_names and name not in chosen.option_names
        }
        return foreign or chosen.check_options(options)

    def check_spanning(self, options: Mapping[str, OptionValue]) -> Mapping[str, str]:
        return self._chosen(options).check_spanning(options)

    def configured(self, options: Mapping[str, OptionValue]) -> Provider:
        return self._chosen(options).configured(options)

    def probe(self) -> Probe:
        return self.own.probe()

    def start(self, spec: NodeSpec) -> Node:
        return self._chosen(spec.options).start(spec)

    def prefix(self, node: Node) -> list[str]:
        return self._chosen(node.spec.options).prefix(node)

    def helpers(self, node: Node) -> list[int]:
        return self._chosen(node.spec.options).helpers(node)

    def virtual_processors(self, node: Node) -> list[int]:
        return self._chosen(node.spec.options).virtual_processors(node)

    def group(self, node: Node) -> NodeGroup | None:
        return self._chosen(node.spec.options).group(node)

    def send(self, node: Node, names: Sequence[str]) -> None:
        self._chosen(node.spec.options).send(node, names)

    def fetch(self, node: Node, names: Sequence[str]) -> None:
        self._chosen(node.spec.options).fetch(node, names)

    def stop(self, spec: NodeSpec) -> None:
        self._chosen(spec.options).stop(spec)
