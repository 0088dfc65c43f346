# SPDX-License-Identifier: Apache-2.0
"""The devices of a campaign, alike in every arm: which they are here, and what a driver's user half must bring along.

The user half of NVIDIA's driver must be of the kernel module's version, so that no image can hold it. It is copied to
the state folder and shown in every node like a directory of the user's; ``LD_LIBRARY_PATH`` leads there.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.errors import HostError, NodeError
from tare.host.devices import NVIDIA, Driver, nvidia_driver
from tare.host.paths import state_directory
from tare.host.privileges import ordinary_user
from tare.host.removal import remove_what_goes
from tare.measure.instances import Instance, run_aside
from tare.nodes.devices import LABEL, Device, closed_to, find_devices, said
from tare.nodes.provider import Bind
from tare.plan.campaign import Campaign
from tare.records import OptionValue, User, Workload

_VARIABLE = "LD_LIBRARY_PATH"
_KIND = "command"
_OPENS = 'for path do test -r "$path" && test -w "$path" || { echo "$path"; exit 1; }; done'
_OUTPUT = ".devices"
_REFUSED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What every node of a campaign gets."""

    devices: tuple[Device, ...] = ()
    binds: tuple[Bind, ...] = ()


def given(asked: Sequence[str], user: User | None) -> Given:
    """The devices on this host, with the driver's libraries in place.

    ``HostError`` if one is missing, or if the commands' user may not open it.
    """
    try:
        here = [device for each in asked for device in find_devices(each)]
        driver = nvidia_driver() if NVIDIA in asked else None
    except ValueError as error:
        raise HostError(f"devices: {error}") from error
    unique = tuple({device.path: device for device in here}.values())
    for device in unique:
        if closed := _closed(device, user):
            raise HostError(f"devices: {closed}")
    if driver is None:
        return Given(devices=unique)
    return Given(devices=unique, binds=(Bind(path=provided(driver, library_folder())),))


def _closed(device: Device, user: User | None) -> str | None:
    if ordinary_user():
        allowed = os.access(device.path, os.R_OK | os.W_OK)
        return (
            None if allowed else f"you may not read and write {device.path}; join its group, or run as root"
        )
    return None if user is None else closed_to(device, user.uid, user.gid)


def library_folder() -> Path:
    """Where the driver's libraries are, on this host and in every node."""
    return state_directory() / "drivers" / NVIDIA


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


def with_libraries(campaign: Campaign) -> Campaign:
    """The campaign whose commands find the driver's libraries first, before what their image states."""
    if NVIDIA not in campaign.devices:
        return campaign
    return replace(
        campaign, workloads=tuple(_leading(workload, library_folder()) for workload in campaign.workloads)
    )


def _leading(workload: Workload, folder: Path) -> Workload:
    if workload.kind != _KIND:
        return workload
    stated = workload.options.get("variables", [])
    pairs = [entry.partition("=") for entry in stated] if isinstance(stated, list) else []
    own = {name: value for name, _, value in pairs}
    before = [part for part in own.get(_VARIABLE, "").split(":") if part and part != str(folder)]
    own[_VARIABLE] = ":".join([str(folder), *before])
    options: dict[str, OptionValue] = {
        **workload.options,
        "variables": [f"{name}={value}" for name, value in own.items()],
    }
    return replace(workload, options=options)


def expected(asked: Sequence[Device]) -> Mapping[str, str]:
    """What every node must have, as ``Parity.host`` says it."""
    return {LABEL: said(asked)} if asked else {}


def refuse_closed(instance: Instance) -> None:
    """``NodeError`` if the command may not open a device where it runs: a group's rule may forbid it there.

    access(2) asks for the permission, the rules of control groups included, and opens nothing. An image without a
    shell is not asked.
    """
    spec = instance.seat.members[0].spec
    if not spec.devices:
        return
    paths = (str(device.path) for device in spec.devices)
    done = run_aside(instance, ("sh", "-c", _OPENS, "sh", *paths), _OUTPUT)
    if done["exit_code"] == _REFUSED and not done["error"]:
        path = (instance.printed(_OUTPUT, "stdout") or "").strip()
        raise NodeError(
            f"the command may not open {path} in {spec.technology}; see that its own rules allow it"
        )
