# SPDX-License-Identifier: Apache-2.0
"""What each rank of an MPI program did, as the profiler traced it, written as other programs read it.

In: the files ``NAME.rank-0``, ``NAME.rank-1`` and so on (docs/profiler.md). Out: files for SimGrid, or an OTF2 archive.
"""
