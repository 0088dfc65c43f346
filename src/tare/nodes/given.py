# SPDX-License-Identifier: Apache-2.0
"""What a campaign's devices are on this host: open to the commands' user, with what their driver must bring along.

The user half of NVIDIA's driver must be of the kernel module's version, so that no image can hold it. It is copied to
the state folder and shown in every node like a directory of the user's; ``LD_LIBRARY_PATH`` leads there.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.errors import HostError
from tare.host.devices import NVIDIA, Driver, nvidia_driver
from tare.host.paths import state_directory
from tare.host.privileges import ordinary_user
from tare.host.removal import remove_what_goes
from tare.nodes.devices import Device, closed_to, find_devices
from tare.nodes.provider import Bind
from tare.records import User


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What every node of a campaign gets on one host."""

    devices: tuple[Device, ...] = ()
    binds: tuple[Bind, ...] = ()


def look(asked: Sequence[str], user: User | None) -> tuple[Device, ...]:
    """The devices on this host; ``HostError`` if one is missing, or if the commands' user may not open it."""
    try:
        here = [device for each in asked for device in find_devices(each)]
        if NVIDIA in asked:
            nvidia_driver()
    except ValueError as error:
        raise HostError(f"devices: {error}") from error
    unique = tuple({device.path: device for device in here}.values())
    for device in unique:
        if closed := _closed(device, user):
            raise HostError(f"devices: {closed}")
    return unique


def given(asked: Sequence[str], user: User | None) -> Given:
    """The same with the driver's libraries in place."""
    devices = look(asked, user)
    if NVIDIA not in asked:
        return Given(devices=devices)
    return Given(devices=devices, binds=(Bind(path=provided(nvidia_driver(), library_folder())),))


def _closed(device: Device, user: User | None) -> str | None:
    if ordinary_user():
        allowed = os.access(device.path, os.R_OK | os.W_OK)
        return (
            None if allowed else f"you may not read and write {device.path}; join its group, or run as root"
        )
    return None if user is None else closed_to(device, user.uid, user.gid)


def library_folder(state: Path | None = None) -> Path:
    """Where the driver's libraries are on a host with this state folder, by default this one, and in its nodes."""
    return (state or state_directory()) / "drivers" / NVIDIA


def provided(driver: Driver, folder: Path) -> Path:
    """The folder with the driver's libraries, copied anew if they are others than before."""
    if not _is_up_to_date(driver, folder):
        fresh = folder.with_name(f"{folder.name}.new")
        remove_what_goes(fresh)
        fresh.mkdir(parents=True)
        for source in set(driver.files.values()):
            shutil.copy2(source, fresh / source.name)
            (fresh / source.name).chmod(0o755)
        for name, source in driver.files.items():
            if name != source.name:
                (fresh / name).symlink_to(source.name)
        for made in (folder.parent, fresh):
            made.chmod(0o755)
        remove_what_goes(folder)
        fresh.rename(folder)
    return folder


def _is_up_to_date(driver: Driver, folder: Path) -> bool:
    wanted = {name: _mark(source) for name, source in driver.files.items()}
    try:
        return {path.name: _mark(path) for path in folder.iterdir()} == wanted
    except OSError:
        return False


def _mark(path: Path) -> tuple[int, int]:
    seen = path.stat()
    return seen.st_size, int(seen.st_mtime)
