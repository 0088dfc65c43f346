# SPDX-License-Identifier: Apache-2.0
"""What is done inside a namespace is done by a thread that nobody overtakes, and whose errors are not lost."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.network.namespaces import AS_ROOT, transfer, within

from tare.errors import NodeError
from tare.host import mounts
from tare.host import network_namespace as namespace

INTERRUPTED = """
import signal, os, sys, time
from pathlib import Path
from tare.host import network_namespace as namespace
made, wait_s = Path(sys.argv[1]), float(sys.argv[2])
def slowly():
    time.sleep(wait_s)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.5)
    made.touch()
try:
    namespace._in_thread(slowly)
except KeyboardInterrupt:
    sys.exit(0 if made.exists() else 4)
sys.exit(5)
"""


@pytest.mark.parametrize("wait_s", [0.0, 0.2])
def test_an_interrupt_waits_for_what_is_being_made(wait_s: float, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "made"), str(wait_s)]
    assert subprocess.run(argv, check=False, timeout=60).returncode == 0


def test_what_is_raised_inside_is_raised_outside() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        namespace._in_thread(fail)


def test_a_kernel_that_does_not_answer_is_given_up_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(namespace, "_LIMIT_S", 0.05)
    released = threading.Event()

    def hang() -> None:
        released.wait(30)

    try:
        with pytest.raises(NodeError, match="busy with a network namespace"):
            namespace._in_thread(hang)
    finally:
        released.set()


def test_a_host_without_room_for_a_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NodeError, match="cannot start a thread"):
        namespace._in_thread(lambda: None)


class TestHeld:
    pytestmark = AS_ROOT

    def test_a_new_namespace_has_its_loopback_up_and_the_runners_own_is_another(self, tmp_path: Path) -> None:
        path, own = tmp_path / "made", Path("/proc/thread-self/ns/net")
        here = own.stat().st_ino
        namespace.make(path)
        try:
            assert within(path, lambda: own.stat().st_ino) == path.stat().st_ino != here
            assert own.stat().st_ino == here
            assert transfer(path, path, "127.0.0.1") == b"hello"
        finally:
            mounts.unmount_below(path)

    def test_a_file_that_holds_none_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "empty").touch()
        with pytest.raises(NodeError, match=r"cannot join the network namespace that .*/empty holds"):
            namespace.inside(tmp_path / "empty", lambda: None)

    def test_an_ordinary_refusal_of_the_kernel_is_an_error_in_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(namespace, "_CLONE_NEWNET", 0x7)  # no flag of unshare(2)
        with pytest.raises(NodeError, match="cannot make a network namespace: Invalid argument"):
            namespace.make(tmp_path / "made")

    def test_a_network_that_another_maker_left_without_ipv6_gets_it(self, tmp_path: Path) -> None:
        path = tmp_path / "made"
        namespace.make(path)
        try:
            namespace.configure(path, {"ipv6/conf/all/disable_ipv6": "1", "no/such/setting": "1"})
            switched = Path("/proc/sys/net/ipv6/conf/all/disable_ipv6")
            assert within(path, switched.read_text) == "1\n"
            assert switched.read_text() == "0\n"
        finally:
            mounts.unmount_below(path)

    def test_a_setting_that_refuses_its_value_is_named(self, tmp_path: Path) -> None:
        path = tmp_path / "made"
        namespace.make(path)
        try:
            with pytest.raises(NodeError, match=r"cannot set .*/ip_forward to maybe: Invalid argument"):
                namespace.configure(path, {"ipv4/ip_forward": "maybe"})
        finally:
            mounts.unmount_below(path)
