# SPDX-License-Identifier: Apache-2.0
"""The parts of an image, as a machine-readable bill of materials: CycloneDX 1.6, with package URLs.

Sources: CycloneDX 1.6 JSON reference; purl-spec; Debian's machine-readable copyright files (DEP 5). Hashes are of
package files, licences have the names that the package's maintainers use; what nobody recorded is left out.
"""

import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

import tare
from tare.image.packages import by_kind, files_inside
from tare.image.store import Image
from tare.nodes.provider import TOOLS_DIRECTORY

Component: TypeAlias = dict[str, Any]
MOST_COPYRIGHT_BYTE = 1 << 20
"""The most of a copyright file that is read."""
LINKED = re.compile(r"libc6-dev|(libstdc\+\+|libgcc)-\d+-dev(-arm64-cross)?")
"""Packages of a builder whose archives are linked into Tare's static programs."""
OWN_LICENCE = "Apache-2.0"
_DEP5_LICENCE = re.compile(r"^License: *(\S.*?) *$", re.MULTILINE)
_COMMON_LICENCE = re.compile(r"/usr/share/common-licenses/([A-Z][A-Za-z]*(?:-[0-9.]*\d)?)")
_DEP5_FORMAT = re.compile(r"^Format(-Specification)?:", re.MULTILINE)
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_SYSTEM_ID = re.compile(r'^ID="?([a-z0-9._-]+)"?$', re.MULTILINE)


def image_bom(image: Image) -> dict[str, Any]:
    """The image's packages, Tare's own programs in it, and the libraries linked into these."""
    components = [*_packages(image), *_own_programs(image.root), *_linked(image.manifest)]
    created = image.manifest.get("created_utc")
    return bom(f"tare image {image.name}", image.digest, components, created=created)


def bom(
    name: str, version: str, components: Iterable[Component], *, created: str | None = None
) -> dict[str, Any]:
    """A bill of materials: the same bytes for the same parts; ``created`` in UTC as ISO 8601."""
    subject = {"type": "application", "name": name, "version": version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{name} {version}')}",
        "version": 1,
        "metadata": ({"timestamp": created} if created else {}) | {"component": subject},
        "components": list(components),
    }


def component(
    name: str,
    version: str,
    *,
    purl: str | None = None,
    sha256: str | None = None,
    licences: Sequence[str] = (),
) -> Component:
    """One part; ``licences`` in their own words."""
    made: Component = {"type": "library", "name": name, "version": version}
    if sha256:
        made["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    if licences:
        made["licenses"] = [{"license": {"name": licence}} for licence in licences]
    return made | ({"purl": purl} if purl else {})


def package_url(kind: str, name: str, version: str, **qualifiers: str) -> str:
    """``pkg:deb/debian/hpcc@1.5.0-3?arch=amd64``; ``name`` may have a namespace before a slash."""
    tail = "&".join(f"{key}={quote(value, safe='')}" for key, value in sorted(qualifiers.items()))
    return f"pkg:{kind}/{quote(name, safe='/')}@{quote(version, safe=':')}{'?' if tail else ''}{tail}"


def copyright_licences(text: str) -> list[str]:
    """Short names of the licences in a Debian copyright file, each once, by name.

    For a file that is not machine-readable: the texts in /usr/share/common-licenses to which it refers.
    """
    named = _DEP5_LICENCE if _DEP5_FORMAT.match(text) else _COMMON_LICENCE
    return sorted(set(named.findall(text)))


def _packages(image: Image) -> Iterator[Component]:
    files = image.manifest.get("origins", {}).get("base", {}).get("packages", {})
    system = _system_id(image.root)
    for kind, packages in by_kind(image.root).items():
        for name, version in sorted(packages.items()):
            file = files.get(name, {})
            qualifiers = {"arch": file["architecture"]} if "architecture" in file else {}
            yield component(
                name,
                version,
                purl=package_url(kind, f"{system}/{name}", version, **qualifiers),
                sha256=file.get("sha256"),
                licences=_licences(image.root, name) if kind == "deb" else (),
            )


def _system_id(root: Path) -> str:
    for file in files_inside(root, ["etc/os-release", "usr/lib/os-release"]):
        if match := _SYSTEM_ID.search(file.read_text(errors="replace")):
            return match[1]
    return "unknown"


def _licences(root: Path, package: str) -> list[str]:
    """``package`` comes from the image; a valid name by Debian's policy is neither a pattern nor a path."""
    patterns = [f"usr/share/doc/{package}/copyright"] if _PACKAGE.fullmatch(package) else []
    for file in files_inside(root, patterns):
        with file.open(errors="replace") as text:
            return copyright_licences(text.read(MOST_COPYRIGHT_BYTE))
    return []


def _own_programs(root: Path) -> Iterator[Component]:
    for file in files_inside(root, [f"{TOOLS_DIRECTORY.strip('/')}/*"]):
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        made = component(file.name, tare.__version__, sha256=sha256, licences=[OWN_LICENCE])
        yield made | {"type": "application"}


def _linked(manifest: Mapping[str, Any]) -> Iterator[Component]:
    packages = manifest.get("origins", {}).get("builder", {}).get("packages", {})
    for name, about in packages.items():
        if LINKED.fullmatch(name):
            url = package_url("deb", f"debian/{name}", about["version"], arch=about["architecture"])
            made = component(name, about["version"], purl=url, sha256=about["sha256"])
            yield made | {"properties": [{"name": "tare:linked", "value": "into static programs of Tare's"}]}
