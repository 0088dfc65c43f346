# SPDX-License-Identifier: Apache-2.0
"""Programs for the profiler, compiled as a user's are, and started by a real mpirun."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.native.profile.profiles import Profile, read_profile

PROGRAMS = Path(__file__).parent / "programs"
HEADERS = REPOSITORY / "native" / "profile"
LIMIT_S = 120

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def library(programs: Path) -> Path:
    path = programs / "libtareprof.so"
    if not path.exists() or shutil.which("mpirun") is None or shutil.which("mpicc") is None:
        pytest.skip("there is no MPI here: apt-get install libopenmpi-dev openmpi-bin")
    return path


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """The program of a name, by the compiler of Open MPI or of another MPI."""
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name: str, compiler: str = "mpicc") -> Path:
        target = folder / f"{name}-{compiler}"
        if not target.exists():
            source = PROGRAMS / f"{name}.c"
            options = [f"-I{HEADERS}", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
            if compiler != "mpicc":
                options.append("-Wno-stringop-overflow")  # gcc takes MPICH's MPI_STATUSES_IGNORE for an array
            argv = [compiler, *options, str(source), "-o", str(target)]
            subprocess.run(argv, check=True, timeout=LIMIT_S)
        return target

    return compiled


@pytest.fixture(scope="session")
def compile_fortran(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """The program of a name for one of Fortran's three interfaces."""
    compiler = shutil.which("gfortran") or shutil.which("gfortran-12")
    if compiler is None or shutil.which("mpifort") is None:
        pytest.skip("there is no Fortran for MPI here: apt-get install gfortran libopenmpi-dev")
    folder = tmp_path_factory.mktemp("fortran")

    def compiled(name: str, interface: int) -> Path:
        target = folder / f"{name}-{interface}"
        argv = ["mpifort", f"-DINTERFACE={interface}", str(PROGRAMS / f"{name}.F90"), "-o", str(target)]
        subprocess.run(argv, check=True, cwd=folder, env={**os.environ, "OMPI_FC": compiler}, timeout=LIMIT_S)
        return target

    return compiled


class Launcher:
    """Starts programs under the profiler, in a folder of their own."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.library = library
        self.file = folder / "profile.json"

    def run(self, argv: Sequence[object], ranks: int) -> subprocess.CompletedProcess[str]:
        """Whatever becomes of it."""
        words = [*self.mpirun(ranks), *map(str, argv)]
        return subprocess.run(
            words, cwd=self.file.parent, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )

    def mpirun(self, ranks: int) -> list[str]:
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]
        options += ["--mca", "plm", "isolated", "--mca", "btl", "vader,self"]
        options += ["--mca", "btl_vader_single_copy_mechanism", "none", "--mca", "mpi_yield_when_idle", "1"]
        options += ["-x", f"LD_PRELOAD={self.library}", "-x", f"TARE_PROFILE={self.file}"]
        return ["mpirun", *options]

    def profile(self, argv: Sequence[object], ranks: int) -> Profile:
        """Of a run that must succeed, and leave its profile alone."""
        done = self.run(argv, ranks)
        assert done.returncode == 0, done.stderr
        assert "tareprof" not in done.stderr
        assert list(self.file.parent.glob("profile.json.*")) == []
        return read_profile(self.file)


@pytest.fixture
def launcher(library: Path, tmp_path: Path) -> Launcher:
    return Launcher(library, tmp_path)


class MpichLauncher(Launcher):
    """The same for programs of MPICH."""

    def mpirun(self, ranks: int) -> list[str]:
        variables = ["-genv", "LD_PRELOAD", str(self.library), "-genv", "TARE_PROFILE", str(self.file)]
        return ["mpiexec.mpich", "-launcher", "fork", *variables, "-np", str(ranks)]


@pytest.fixture(scope="session")
def mpich_library(programs: Path) -> Path:
    path = programs / "libtareprof-mpich.so"
    if not path.exists() or shutil.which("mpiexec.mpich") is None or shutil.which("mpicc.mpich") is None:
        pytest.skip("there is no MPICH here: apt-get install mpich libmpich-dev, then scripts/build-native")
    return path


@pytest.fixture
def mpich_launcher(mpich_library: Path, tmp_path: Path) -> MpichLauncher:
    folder = tmp_path / "mpich"
    folder.mkdir()
    return MpichLauncher(mpich_library, folder)
