# SPDX-License-Identifier: Apache-2.0
"""The campaigns that come with Tare: ``presets/NAME.toml``."""

from pathlib import Path

_FOLDER = Path(__file__).with_name("presets")


def preset_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def preset_path(name: str) -> Path:
    """Return the file of one of ``preset_names()``."""
    return _FOLDER / f"{name}.toml"
