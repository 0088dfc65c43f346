# SPDX-License-Identifier: Apache-2.0
"""Files of the nodes' control groups."""

import os
from collections.abc import Sequence

from tare.host.cgroups.hierarchies import UNIFIED, V1
from tare.measure.signals.family import File, TextSource, Unreadable
from tare.measure.signals.place import Place


def group_files(place: Place, controller: str, name: str, *, unified: bool = False) -> Sequence[TextSource]:
    """This file of each node's group; ``unified``: the one of version 2, which a hybrid host has too.

    ``Unreadable`` if a node has no such file.
    """
    if not place.groups:
        raise Unreadable("no control group of this host holds the nodes")
    text_sources: list[TextSource] = []
    for group in place.groups:
        directory = group.path(UNIFIED if unified and group.version == V1 else controller)
        path = f"{directory}/{name}"
        if directory is None or not os.path.exists(path):  # noqa: PTH110 - eight of each node, in every trial
            raise Unreadable(f"the nodes' control group has no {name}")
        text_sources.append(File(path, f"the control group's {name}"))
    return text_sources
