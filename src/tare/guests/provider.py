# SPDX-License-Identifier: Apache-2.0
"""Code shared by all technologies whose guests boot the image with Tare's own first process in it."""

from collections.abc import Sequence
from pathlib import Path

from tare.guests import channel, files
from tare.guests.disk import image_disk
from tare.host import caches
from tare.nodes.provider import DEVICES_OF_A_GUEST, WORK_DIRECTORY, Node, Provider


class GuestProvider(Provider):
    """A provider whose image is a disk, with a channel to the guest for commands and files."""

    own_kernel = True
    device_refusal = DEVICES_OF_A_GUEST

    def prepare(self, image_root: Path, image_digest: str) -> None:
        image_disk(image_root, image_digest)

    def prefix(self, node: Node) -> list[str]:
        return channel.prefix(node.spec)

    def send(self, node: Node, names: Sequence[str]) -> None:
        files.send(self.prefix(node), node.spec.work, names, WORK_DIRECTORY)

    def fetch(self, node: Node, names: Sequence[str]) -> None:
        files.fetch(self.prefix(node), node.spec.work, names, WORK_DIRECTORY)

    def empty_caches(self, node: Node) -> str:
        caches.empty_inside(self.prefix(node))
        return "the guest's by its own first process, which the runner told to (sync, drop_caches)"
