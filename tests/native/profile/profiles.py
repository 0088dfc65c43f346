# SPDX-License-Identifier: Apache-2.0
"""What tests ask of a profile."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Profile:
    """The JSON of one run."""

    content: Mapping[str, Any]

    @property
    def ranks(self) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = self.content["profile"]
        return result

    def call(self, rank: int, name: str) -> dict[str, Any]:
        return next(call for call in self.ranks[rank]["calls"] if call["name"] == f"MPI_{name}")

    def names(self, rank: int) -> set[str]:
        return {call["name"].removeprefix("MPI_") for call in self.ranks[rank]["calls"]}

    def moved(self, rank: int, name: str, direction: str) -> tuple[int, int] | None:
        """Messages and bytes; ``None``: there were none."""
        document = self.call(rank, name)[direction]
        return None if document is None else (document["messages"], document["byte"])

    def matrix(self, direction: str) -> Counter[tuple[int, int, str]]:
        """(From, to, what) → messages and bytes, as one side of each message saw it."""
        counter: Counter[tuple[int, int, str]] = Counter()
        for rank in self.ranks:
            for peer in rank["peers"]:
                ends = (rank["rank"], peer["rank"]) if direction == "sent" else (peer["rank"], rank["rank"])
                counter[(*ends, "messages")] += peer[direction]
                counter[(*ends, "byte")] += peer[f"{direction}_byte"]
        return +counter


def read_profile(file: Path) -> Profile:
    return Profile(json.loads(file.read_text()))
