# SPDX-License-Identifier: Apache-2.0
"""Equal arms: what a stopwatch saw becomes the technology's own and what must be as natively."""

import os
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.environments.environment_example import described

from tare.environments import PROVIDERS
from tare.environments.fake import Fake
from tare.errors import UnequalArms
from tare.measure.parity import read_parity, require_equal
from tare.nodes.provider import Chosen, Node
from tare.records import OptionValue, Parity

SEEN: Mapping[str, object] = {
    "effective_capabilities": "00000000a80425fb",
    "no_new_privileges": "1",
    "seccomp": "2",
    "seccomp_filters": "5",
    "user": "0\t0\t0\t0",
    "groups": "",
    "security_label": None,
    "namespaces": {"pid": "pid:[1]", "mnt": None},
    "nice": 5,
    "scheduler": 3,
    "io_priority": 2 << 13 | 4,
    "oom_score_adjustment": "-500",
    "timer_slack_ns": 50000,
    "limits": {"nofile": "1024:4096", "fsize": "1:1", "stack": None},
}


def node(**changes: object) -> Node:
    return replace(Node(spec=described(), init_pid=None), **changes)  # type: ignore[arg-type]


class TestReading:
    def test_a_technologys_own_and_the_hosts_are_told_apart(self) -> None:
        read = read_parity(Fake(), node(), {"confinement": SEEN})
        assert read.own == {
            "system call filter": "filter (5)",
            "capabilities": "00000000a80425fb",
            "no new privileges": "yes",
            "user": "0",
            "namespaces of its own": "pid",
        }
        assert read.host == {
            "nice": "5",
            "scheduler": "batch",
            "I/O class": "best effort, level 4",
            "OOM score adjustment": "-500",
            "timer slack": "50000 ns",
            "limit of nofile": "1024:4096",
        }

    def test_what_no_counter_shows_is_the_technologys_own(self) -> None:
        conditions = {"transparent_huge_pages": "off", "clock_source": "tsc"}
        own = read_parity(Fake(), node(), {"confinement": SEEN, **conditions}).own
        assert own["transparent huge pages"] == "off"
        assert own["clock source"] == "tsc"

    @pytest.mark.parametrize(
        ("count", "said"),
        [
            (18, "up to 64"),
            (64, "up to 64"),
            (98, "98"),
            (0, None),
            (-3, None),
            ("98", None),
            (10**400, None),
        ],
    )
    def test_mappings_beyond_a_small_programs_own_are_told_apart(
        self, count: object, said: str | None
    ) -> None:
        own = read_parity(Fake(), node(), {"confinement": SEEN, "mappings": count}).own
        assert own.get("mappings of a process") == said

    @pytest.mark.parametrize("nonsense", [None, "", 3, ["tsc"], {}])
    def test_conditions_that_a_node_does_not_say_are_left_out(self, nonsense: object) -> None:
        own = read_parity(Fake(), node(), {"confinement": SEEN, "clock_source": nonsense}).own
        assert not {"clock source", "transparent huge pages"} & set(own)

    def test_of_a_sandbox_the_limits_inside_are_its_own_business(self) -> None:
        read = read_parity(Fake(), node(own_kernel=True, init_pid=os.getpid()), {"confinement": SEEN})
        assert read.host["nice"] == str(os.getpriority(os.PRIO_PROCESS, 0))
        assert not any(label.startswith("limit of") for label in read.host)
        assert read.own["namespaces of its own"] == "all: a kernel of its own"

    def test_limits_that_a_technology_gives_by_itself_are_its_own(self) -> None:
        read = read_parity(PROVIDERS["openvz"], node(), {"confinement": SEEN})
        assert read.own["limit of nofile"] == "1024:4096"
        assert "limit of nofile" not in read.host

    @pytest.mark.parametrize("nonsense", [[], {"a": []}, None, 1.5, "\x00", -1, 10**400])
    @pytest.mark.parametrize("key", sorted(SEEN))
    def test_what_a_node_makes_up_breaks_nothing(self, key: str, nonsense: object) -> None:
        read = read_parity(Fake(), node(), {"confinement": {**SEEN, key: nonsense}})
        assert all(isinstance(text, str) for text in (*read.own.values(), *read.host.values()))

    @pytest.mark.parametrize("confinement", [None, "nonsense", 3, {}])
    def test_an_older_or_broken_stopwatch_is_not_compared(self, confinement: object) -> None:
        assert read_parity(Fake(), node(), {"confinement": confinement}) == Parity()


class TestComparing:
    def test_only_what_both_sides_know_is_compared(self) -> None:
        require_equal(Parity(host={"nice": "0", "new": "x"}), {"nice": "0", "other": "y"}, "lxc")

    def test_a_technologys_own_confinement_is_no_inequality(self) -> None:
        require_equal(Parity(own={"nice": "5"}), {"nice": "0"}, "lxc")

    def test_the_reason_names_each_difference_and_what_to_do(self) -> None:
        differing = Parity(host={"nice": "5", "CPU weight": "512 > 1024", "scheduler": "other"})
        expected = {"nice": "0", "CPU weight": "1024 > 1024", "scheduler": "other"}
        with pytest.raises(UnequalArms) as caught:
            require_equal(differing, expected, "docker")
        assert str(caught.value) == (
            "unequal arms: docker has nice 5 instead of 0; CPU weight 512 > 1024 instead of 1024 > 1024; "
            "restart its daemon without nice (and tare, if you are not root)"
        )


class Weighted(Fake):
    """Whose options set the niceness on purpose."""

    def chosen(self, options: Mapping[str, OptionValue]) -> Chosen:
        return Chosen(labels=frozenset({"nice"} if options else ()))


class TestChosen:
    def test_what_the_options_set_on_purpose_is_the_technologys_own(self) -> None:
        spec = described(options={"slowdown": 1})
        read = read_parity(Weighted(), node(spec=spec), {"confinement": SEEN})
        assert read.own["nice"] == "5"
        assert "nice" not in read.host
        require_equal(read, {"nice": "0"}, "fake")

    def test_in_another_environment_of_the_technology_it_must_be_equal(self) -> None:
        read = read_parity(Weighted(), node(), {"confinement": SEEN})
        assert read.host["nice"] == "5"
