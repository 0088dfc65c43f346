/* SPDX-License-Identifier: Apache-2.0 */
/* Marks regions of a program in C or C++ for Tare's MPI profiler (docs/profiler.md), which then tells each
 * apart:
 *
 *     TARE_REGION_BEGIN("solve");
 *     ...
 *     TARE_REGION_END("solve");
 *
 * Between MPI_Init and MPI_Finalize. It needs no library and works with every MPI; without the profiler it
 * does nothing. Regions may lie in each other, and overlap. The name is text of at most 63 characters. */
#ifndef TARE_REGION_H
#define TARE_REGION_H

#include <mpi.h>

/* NOLINTBEGIN(cppcoreguidelines-macro-usage): for C as well */

/* Levels of MPI_Pcontrol that other tools do not use: "TARE", and the next. */
#define TARE_REGION_BEGINS 0x54415245
#define TARE_REGION_ENDS 0x54415246

#define TARE_REGION_BEGIN(name) ((void)MPI_Pcontrol(TARE_REGION_BEGINS, (const char*)(name)))
#define TARE_REGION_END(name) ((void)MPI_Pcontrol(TARE_REGION_ENDS, (const char*)(name)))

/* NOLINTEND(cppcoreguidelines-macro-usage) */

#endif
