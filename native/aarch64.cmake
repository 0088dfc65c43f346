# SPDX-License-Identifier: Apache-2.0
# Compiles for 64-bit ARM with Debian's cross compiler. TARE_AARCH64_ROOT holds that processor's Open MPI and what
# it needs, as scripts/check-aarch64 unpacks them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(TARE_AARCH64_ROOT ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64/root CACHE PATH "The other processor's root folder")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TARE_AARCH64_ROOT)
set(libraries ${TARE_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu)

# What libmpi itself needs is found by the linker alone; the programs find it in their root when they run.
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${libraries})
set(CMAKE_SKIP_RPATH ON)
set(CMAKE_FIND_ROOT_PATH ${TARE_AARCH64_ROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Its mpicc cannot be asked, being a program for the other processor, and pkg-config tells of this host's MPI.
set(CMAKE_DISABLE_FIND_PACKAGE_PkgConfig ON)
set(MPI_SKIP_COMPILER_WRAPPER ON)
set(MPI_C_HEADER_DIR ${libraries}/openmpi/include CACHE PATH "The folder of mpi.h")
set(MPI_C_LIB_NAMES mpi CACHE STRING "What a program is linked to")
set(MPI_mpi_LIBRARY ${libraries}/openmpi/lib/libmpi.so CACHE FILEPATH "Open MPI of that processor")
