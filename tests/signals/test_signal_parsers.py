# SPDX-License-Identifier: Apache-2.0
"""The figures that recorded texts hold."""

import pytest
from tests.signals.signal_texts import PLACE, text

from tare.host.energy import PACKAGE
from tare.signals.disks import Disks
from tare.signals.family import keyed
from tare.signals.hardware import Energy, Frequency, Temperature
from tare.signals.memory import HostMemory, MemoryLimit, NodeMemory
from tare.signals.network import Interfaces, Queues, Switch, Tcp, TcpExtended
from tare.signals.pressure import HostPressure, NodePressure
from tare.signals.processors import Processors, SoftInterrupts, parse_times
from tare.signals.quota import Quota


def test_both_versions_of_a_quota_give_seconds() -> None:
    old, new = (Quota().parse(text(name), PLACE) for name in ("cpu.stat.v1", "cpu.stat.v2"))
    assert old["throttled_s"] == pytest.approx(1.043210987)
    assert new["throttled_s"] == pytest.approx(1.04321)
    assert old["throttled_periods"] == new["throttled_periods"] == 21
    assert old["runnable_wait_s"] == pytest.approx(0.25)
    assert "runnable_wait_s" not in new


def test_pressure_is_its_total_in_seconds_and_no_average() -> None:
    result = NodePressure("io").parse(text("pressure-io"), PLACE)
    assert result["psi_io_some_s"] == pytest.approx(261.377421)
    assert result["psi_io_full_s"] == pytest.approx(129.683372)


def test_full_of_cpu_is_no_signal_of_a_host() -> None:
    assert set(HostPressure("cpu").parse(text("pressure-cpu"), PLACE)) == {"host_psi_cpu_some_s"}


def test_faults_of_version_1_are_those_of_the_whole_tree_and_reclaim_is_not_told() -> None:
    result = NodeMemory().parse(text("memory.stat.v1"), PLACE)
    assert (
        result["major_faults"] == keyed(text("memory.stat.v1"), ["total_pgmajfault"])["total_pgmajfault"] > 0
    )
    assert "pages_reclaimed" not in result


def test_minor_faults_are_those_that_are_not_major() -> None:
    result = NodeMemory().parse(text("memory.stat.v2"), PLACE)
    assert result == {
        "minor_faults": 2000,
        "major_faults": 100,
        "pages_reclaimed": 612,
        "pages_refaulted": 43,
    }


def test_the_limit_was_hit_as_often_as_either_version_says() -> None:
    assert MemoryLimit().parse(b"17\n", PLACE) == MemoryLimit().parse(text("memory.events"), PLACE)


def test_tcp_is_read_by_the_names_in_its_table() -> None:
    assert set(Tcp().parse(text("snmp"), PLACE)) == {"tcp_retransmissions"}
    extended = TcpExtended().parse(text("netstat"), PLACE)
    names, numbers = (line.split() for line in text("netstat").splitlines()[:2])
    assert extended["tcp_timeouts"] == int(numbers[names.index(b"TCPTimeouts")]) > 0


def test_a_table_whose_names_and_numbers_do_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="fit each other"):
        Tcp().parse(b"Tcp: RetransSegs InSegs\nTcp: 1\n", PLACE)


def test_loopback_is_no_link_of_a_node() -> None:
    result = Interfaces().parse(text("net-dev"), PLACE)
    assert result["interface_received_byte"] == 4256575685 + 184348
    assert result["interface_drops"] == 4 == Switch().parse(text("net-dev"), PLACE)["switch_drops"]


def test_the_kernels_list_of_queues_is_read_to_its_end() -> None:
    assert Queues().parse(text("queues.bin"), PLACE) == {
        "queue_drops": 0,
        "queue_overlimits": 0,
        "queue_requeues": 0,
        "queue_backlog_byte": 0,
    }


def test_only_the_trials_processors_are_summed() -> None:
    both, second = parse_times(text("stat"), (0, 1)), parse_times(text("stat"), (1,))
    assert second.steal_s == pytest.approx(32.57)
    assert second.working_s == pytest.approx((906261 + 174562 + 403908) / 100)
    assert both.steal_s == pytest.approx(66.98)
    assert Processors().parse(text("stat"), PLACE)["host_switches"] == 275825357


def test_a_processor_that_is_not_listed_is_no_idle_one() -> None:
    with pytest.raises(ValueError, match="processor 7"):
        parse_times(text("stat"), (0, 7))


def test_packets_taken_in_are_those_of_all_processors() -> None:
    assert SoftInterrupts().parse(text("softirqs"), PLACE) == {"network_softirqs": 13180863 + 13324639}


def test_what_control_groups_took_back_counts_as_reclaimed_on_the_host() -> None:
    values = keyed(text("vmstat"), ["pgsteal_anon", "pgsteal_file", "pgfault", "pgmajfault"])
    result = HostMemory().parse(text("vmstat"), PLACE)
    assert result["host_pages_reclaimed"] == values["pgsteal_anon"] + values["pgsteal_file"] > 0
    assert result["host_minor_faults"] == values["pgfault"] - values["pgmajfault"]


def test_disks_count_once_and_a_host_without_any_tells_nothing() -> None:
    result = Disks(frozenset({"vda"})).parse(text("diskstats"), PLACE)
    assert result["block_read_byte"] == 196142098 * 512
    assert result["block_io_wait_s"] == pytest.approx((4570000 + 1557901) / 1000)
    assert Disks(frozenset()).parse(text("diskstats"), PLACE) == {}


def test_hardware_is_told_in_plain_units() -> None:
    assert Frequency().parse(b"2600000\n", PLACE) == {"frequency_hz": pytest.approx(2.6e9)}
    assert Temperature().parse(b"54000\n", PLACE) == {"temperature_c": pytest.approx(54.0)}
    assert Energy(PACKAGE).parse(b"1500000\n", PLACE) == {"energy_j": pytest.approx(1.5)}


def test_several_processors_have_a_mean_frequency_and_several_zones_the_highest_temperature() -> None:
    assert Frequency().joined([2e9, 3e9]) == pytest.approx(2.5e9)
    assert Temperature().joined([40.0, 60.0]) == pytest.approx(60.0)
