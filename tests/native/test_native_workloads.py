# SPDX-License-Identifier: Apache-2.0
"""burn, fake and blas: what the programs that act as workloads print and how they end."""

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest


def run(
    *argv: object, variables: dict[str, str] | None = None, limit_s: float = 20
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(part) for part in argv], env=variables or {}, capture_output=True, check=False, timeout=limit_s
    )


@pytest.mark.parametrize("iterations", [1, 2, 1000])
def test_burn_does_every_iteration(programs: Path, iterations: int) -> None:
    state, total = 1, 0.0
    for _ in range(iterations):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        total += state >> 33
    done = run(programs / "burn", iterations)
    assert done.returncode == 0
    assert done.stdout.decode() == f"burned {iterations} iterations: {state} {total:.0f}\n"


def test_burn_touches_memory(programs: Path) -> None:
    assert run(programs / "burn", "--touch", 1_000_001).stdout == b"touched 1000001 byte\n"


def test_burn_says_when_there_is_no_such_memory(programs: Path) -> None:
    done = run(programs / "burn", "--touch", 2**62)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == f"burn: cannot have {2**62} byte: Cannot allocate memory\n".encode()


@pytest.mark.parametrize("arguments", [[], ["0"], ["-1"], ["1e6"], ["1", "2"], ["--touch"], ["--touch", "x"]])
def test_burn_refuses_what_is_no_amount(programs: Path, arguments: list[str]) -> None:
    done = run(programs / "burn", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"burn: ")


def fake_value(programs: Path, *options: str, variables: dict[str, str] | None = None) -> float:
    done = run(programs / "fake", *options, variables=variables)
    assert (done.returncode, done.stderr) == (0, b"")
    match = re.fullmatch(r"time_s (\S+)\nend of output\n", done.stdout.decode())
    assert match is not None
    return float(match[1])


def test_the_fake_prints_its_value(programs: Path) -> None:
    assert fake_value(programs) == 1.0
    assert fake_value(programs, "--value", "1.0234") == 1.0234


def test_the_fake_is_slowed_down_by_its_environment(programs: Path) -> None:
    slowed = fake_value(programs, "--value", "2", variables={"TARE_FAKE_SLOWDOWN": "0.25"})
    assert slowed == 2.5


def test_the_fakes_noise_is_set_by_its_seed(programs: Path) -> None:
    noisy = ["--noise", "0.1", "--seed"]
    assert fake_value(programs, *noisy, "1") == fake_value(programs, *noisy, "1") != 1.0
    assert fake_value(programs, *noisy, "1") != fake_value(programs, *noisy, "2")
    assert fake_value(programs, "--noise", "0.1") != fake_value(programs, "--noise", "0.1")


def test_the_fake_sleeps(programs: Path) -> None:
    start = time.monotonic()
    fake_value(programs, "--sleep-s", "0.2")
    assert time.monotonic() - start >= 0.2


def test_the_fake_fails(programs: Path) -> None:
    done = run(programs / "fake", "--behaviour", "fail")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == b"fake: this failure was asked for\n"


def test_the_fake_crashes(programs: Path) -> None:
    assert run(programs / "fake", "--behaviour", "crash").returncode == -signal.SIGSEGV


def test_the_fake_hangs(programs: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        run(programs / "fake", "--behaviour", "hang", limit_s=0.3)
    assert not caught.value.stdout


def test_the_fake_prints_garbage(programs: Path) -> None:
    done = run(programs / "fake", "--behaviour", "garbage")
    assert done.returncode == 0
    assert len(done.stdout) == 65536
    assert len(set(done.stdout)) == 256
    assert run(programs / "fake", "--behaviour", "garbage").stdout != done.stdout


def test_the_fake_prints_for_ever(programs: Path) -> None:
    process = subprocess.Popen([programs / "fake", "--behaviour", "endless"], stdout=subprocess.PIPE, env={})
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.read(9 * 100_000) == b"time_s 1\n" * 100_000
        assert process.poll() is None
    # Nobody reads any more.
    assert process.wait(timeout=20) == -signal.SIGPIPE


def test_the_fake_stops_in_the_middle_of_a_number(programs: Path) -> None:
    done = run(programs / "fake", "--behaviour", "truncated", "--value", "1.0234")
    assert (done.returncode, done.stdout) == (0, b"time_s 1.023")


def test_the_fake_prints_nothing(programs: Path) -> None:
    done = run(programs / "fake", "--behaviour", "missing")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "arguments", [["--behaviour", "well"], ["--value"], ["--noise", "-1"], ["--seed", "1.5"], ["fast"]]
)
def test_the_fake_refuses_what_it_does_not_know(programs: Path, arguments: list[str]) -> None:
    done = run(programs / "fake", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert arguments[0].encode() in done.stderr


def test_blas_names_the_library_and_its_kernel(programs: Path) -> None:
    done = run(programs / "blas")
    if done.returncode == 1:
        pytest.skip("no BLAS library on this machine")
    assert re.fullmatch(r"OpenBLAS \d+\.\d+\.\d+ \w+\n|\S+ \(not OpenBLAS\)\n", done.stdout.decode())


def test_blas_sees_the_kernel_that_a_program_would_get(programs: Path) -> None:
    if not run(programs / "blas").stdout.startswith(b"OpenBLAS"):
        pytest.skip("no OpenBLAS on this machine")
    chosen = run(programs / "blas", variables={"OPENBLAS_CORETYPE": "Nehalem"})
    assert chosen.stdout.decode().split()[2] == "Nehalem"


def test_blas_says_when_the_library_is_another(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "libblas.so.3").symlink_to(_shared_library("libm.so.6"))
    done = run(programs / "blas", variables={"LD_LIBRARY_PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (0, b"libblas.so.3 (not OpenBLAS)\n")


def test_blas_says_why_there_is_none(programs: Path, tmp_path: Path) -> None:
    for name in ("libblas.so.3", "libopenblas.so.0"):
        (tmp_path / name).write_bytes(b"no library" * 100)
    done = run(programs / "blas", variables={"LD_LIBRARY_PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"blas: no BLAS library: ")
    assert b"libblas.so.3" in done.stderr
    assert b"libopenblas.so.0" in done.stderr


def _shared_library(name: str) -> str:
    """Where this machine keeps a library: the one that Python itself has mapped."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return next(line.split()[-1] for line in maps if line.endswith(f"/{name}"))
