# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the options of ``vmware``, and what they make of a node's limits."""

import pytest
from tests.environments.environment_example import MEBIBYTE, described

from tare.environments import PROVIDERS
from tare.environments.vmware.machine import limits
from tare.records import OptionValue

PROVIDER = PROVIDERS["vmware"]


class TestComplaints:
    def test_a_machine_and_an_address_are_enough(self) -> None:
        assert PROVIDER.check_options({"vm": "any", "url": "vcenter.example.org"}) == {}

    @pytest.mark.parametrize(
        ("options", "name", "words"),
        [
            ({}, "vm", "is missing"),
            ({"vm": []}, "vm", "a list of names"),
            ({"vm": "-rf"}, "vm", "the name of a machine"),
            ({"vm": "any", "clone": "some"}, "clone", "full, linked, no"),
            ({"vm": "any", "clone": "linked"}, "snapshot", "is missing"),
            ({"vm": "any", "snapshot": 3}, "snapshot", "the name of a snapshot"),
            ({"vm": "any", "insecure": "yes"}, "insecure", "true or false"),
            ({"vm": "any", "reserve": 1}, "reserve", "true or false"),
            ({"vm": "any", "password_file": "secret"}, "password_file", "whole path"),
            ({"vm": "any", "pool": ""}, "pool", "must be a text"),
            ({"vm": "any", "url": "-k"}, "url", "must be an address"),
            ({"vm": "any", "boot_limit": 0}, "boot_limit", "whole number"),
        ],
    )
    def test_each_mistake_is_told_with_its_option(
        self, options: dict[str, OptionValue], name: str, words: str
    ) -> None:
        assert words in PROVIDER.check_options(options)[name]

    @pytest.mark.parametrize("url", ["https://me:secret@vcenter", "me:secret@vcenter", "https://[me:secret@"])
    def test_an_address_with_a_password_is_refused_and_not_repeated(self, url: str) -> None:
        words = PROVIDER.check_options({"vm": "any", "url": url})["url"]
        assert "secret" not in words


class TestLimits:
    def test_a_quota_is_so_many_megahertz(self) -> None:
        spec = described(options={}, cpu_quota=1.25)
        assert limits(spec, 2600)["cpu.limit"] == "3250"

    def test_without_a_quota_the_originals_limits_are_lifted(self) -> None:
        result = limits(described(options={}), 2600)
        assert (result["cpu.limit"], result["mem.limit"]) == ("-1", "-1")
        assert "cpu.reservation" not in result

    def test_processors_and_memory_are_the_nodes_and_what_the_system_needs(self) -> None:
        spec = described(options={"system_memory": 128}, memory_byte=300 * MEBIBYTE)
        result = limits(spec, 2600)
        assert (result["c"], result["m"], result["sched.cpu.affinity"]) == ("3", "428", "0,2,3")

    def test_reserved_are_the_quota_and_all_memory(self) -> None:
        result = limits(described(options={"reserve": True}, cpu_quota=0.5), 2600)
        assert (result["cpu.reservation"], result["mem.reservation"]) == ("1300", "1024")

    def test_no_processors_are_named_where_none_can_be(self) -> None:
        assert limits(described(options={"pinned": False}), 2600)["sched.cpu.affinity"] == ""
