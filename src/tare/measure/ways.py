# SPDX-License-Identifier: Apache-2.0
"""Ways into the nodes of a trial: a finished stopwatch becomes the next one of its node.

Entering a node again costs a session of the engine (some 100 ms of ``docker exec``), or the start of a process.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Self

from tare.errors import NodeError
from tare.measure.stopwatch import Command, Stopwatch
from tare.nodes.provider import Node, Provider


class Ways:
    """Ways for one start of nodes; a context manager that closes all that are left."""

    def __init__(self) -> None:
        self._free: dict[str, list[Stopwatch]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def stopwatch(
        self, provider: Provider, node: Node, command: Command, output_folder: str
    ) -> Iterator[Stopwatch]:
        """A stopwatch for this command in the node, about to report READY; ``NodeError`` if there is no way in."""
        entered = self._entered(provider, node, stopwatch_words(node, command, output_folder))
        with ExitStack() as stack:
            stack.push(entered)
            yield entered
            if entered.is_free:
                stack.pop_all()
                self._free.setdefault(node.spec.name, []).append(entered)

    def close(self) -> None:
        """End unused stopwatches, so that none runs beside a measured command."""
        with ExitStack() as stack:
            for node in list(self._free):
                for stopwatch in self._free.pop(node):
                    stopwatch.dismiss()
                    stack.push(stopwatch)

    def _entered(self, provider: Provider, node: Node, words: list[str]) -> Stopwatch:
        while free := self._free.get(node.spec.name):
            with suppress(NodeError), ExitStack() as stack:
                stack.push(stopwatch := free.pop())
                if stopwatch.is_free:  # and has not ended meanwhile, such as by a restart of its engine
                    stopwatch.become(words)
                    stack.pop_all()
                    return stopwatch
        return Stopwatch([*provider.prefix(node), *words])


def stopwatch_words(node: Node, command: Command, output_folder: str) -> list[str]:
    """The argv of a stopwatch, as the node sees it."""
    return [f"{node.tools_directory}/stopwatch", *command.options(output_folder)]
