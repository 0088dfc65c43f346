#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts a rank as if it was in a node of its own; rank 1 as if on another kernel, whose clock is some seconds ahead:
# apart.sh SECONDS BOOT_ID CLOCKSOURCE PROGRAM...
seconds=$1 boot_id=$2 clocksource=$3
shift 3
export OMPI_COMM_WORLD_LOCAL_SIZE=1 MPI_LOCALNRANKS=1
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] || exec "$@"
exec unshare --fork --kill-child --mount --time --monotonic "$seconds" sh -c '
    mount --bind "$0" /proc/sys/kernel/random/boot_id || exit
    mount --bind "$1" /sys/devices/system/clocksource/clocksource0/current_clocksource || exit
    shift
    exec "$@"' "$boot_id" "$clocksource" "$@"
