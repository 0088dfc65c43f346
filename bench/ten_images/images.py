# SPDX-License-Identifier: Apache-2.0
"""The ten images: how each is made, and the command that fails unless it runs as the image states."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.ten_images import forms
from bench.ten_images.roots import Workshop

_PERL = "$s += 1 / $_ for 1 .. 300_000; die qq(user $>) if $> == 0"
_START = (
    '#!/bin/sh\nexport STARTED=by-its-script\nexec /opt/as-stated --variable STARTED=by-its-script "$@"\n'
)


@dataclass(frozen=True, slots=True)
class ForeignImage:
    name: str
    form: str
    holds: str
    make: Callable[[Workshop, str], str]
    """Returns what ``--image`` takes."""
    command: tuple[str, ...]
    options: tuple[str, ...] = ()


def _variables(workshop: Workshop, name: str) -> str:
    root = workshop.copy("bookworm", name)
    workshop.vendor(root)
    config = {
        "Env": ["PATH=/opt/vendor/bin:/usr/bin:/bin", "LD_LIBRARY_PATH=/opt/vendor/lib", "GREETING=good day"]
    }
    return str(forms.oci_archive(root, config, root.with_suffix(".oci.tar")))


def _entry_point(workshop: Workshop, name: str) -> str:
    root, above = workshop.copy("bookworm", name), workshop.empty(f"{name}-above")
    workshop.compiled("as_stated.c", above / "opt/as-stated")
    (above / "data").mkdir()
    (above / "data/input").write_text("1\n")
    config = {
        "Entrypoint": ["/opt/as-stated", "--directory", "/data"],
        "Cmd": ["--file", "input"],
        "WorkingDir": "/data",
    }
    return str(forms.oci_layout([root, above], config, root.with_suffix(".layout")))


def _named_user(workshop: Workshop, name: str) -> str:
    root = workshop.copy("bookworm", name)
    workshop.compiled("as_stated.c", root / "opt/as-stated")
    with (root / "etc/passwd").open("a") as passwd:
        passwd.write("app:x:1234:1235::/srv/app:/bin/sh\n")
    with (root / "etc/group").open("a") as group:
        group.write("data:x:1300:app\n")
    (root / "srv/app").mkdir(parents=True)
    config = {
        "User": "app:data",
        "Cmd": ["/opt/as-stated", "--user", "1234:1300", "--variable", "HOME=/srv/app"],
    }
    return str(forms.docker_archive(root, config, root.with_suffix(".docker.tar")))


def _sif(workshop: Workshop, name: str) -> str:
    root = workshop.copy("trixie", name)
    workshop.vendor(root)
    config = {
        "Env": ["PATH=/opt/vendor/bin:/usr/bin:/bin", "LD_LIBRARY_PATH=/opt/vendor/lib", "GREETING=good day"],
        "Entrypoint": ["as-stated", "--variable", "GREETING=good day"],
    }
    return str(forms.sif(root, config, root.with_suffix(".sif")))


def _squashfs(workshop: Workshop, name: str) -> str:
    root = workshop.copy("bullseye", name)
    return str(forms.squashfs(root, root.with_suffix(".sqsh")))


def _musl(workshop: Workshop, name: str) -> str:
    root = workshop.empty(name)
    workshop.busybox(root)
    workshop.musl_loader(root)
    workshop.with_musl(root / "opt/as-stated")
    return str(forms.tar(root, root.with_suffix(".tar.gz"), "--gzip"))


def _bare(workshop: Workshop, name: str) -> str:
    root = workshop.empty(name)
    workshop.compiled("as_stated.c", root / "as-stated", "-static")
    return str(root)


def _numbered_user(workshop: Workshop, name: str) -> str:
    root = workshop.copy("bookworm", name)
    workshop.compiled("as_stated.c", root / "opt/as-stated")
    script = root / "opt/start"
    script.write_text(_START)
    script.chmod(0o755)
    changes = [
        "USER 1001:1002",
        "ENV GREETING=hello",
        'ENTRYPOINT ["/opt/start"]',
        'CMD ["--user", "1001:1002", "--variable", "GREETING=hello"]',
    ]
    return forms.engine_image("docker", root, changes, f"tare-ten:{name}")


def _mpich(workshop: Workshop, name: str) -> str:
    root = workshop.copy("mpich", name)
    workshop.with_mpich(root / "opt/ranks")
    return forms.engine_image("podman", root, ["ENV PATH=/opt:/usr/bin:/bin"], f"localhost/tare-ten:{name}")


def _open_mpi(workshop: Workshop, name: str) -> str:
    root = workshop.copy("trixie", name)
    workshop.with_open_mpi(root / "opt/ranks")
    return str(forms.oci_archive(root, {"Env": ["PATH=/opt:/usr/bin:/bin"]}, Path(f"{root}.oci.tar")))


TEN = (
    ForeignImage(
        "variables",
        "OCI archive",
        "Debian 12; program and library found by ENV alone",
        _variables,
        ("as-stated", "--variable", "GREETING=good day"),
    ),
    ForeignImage(
        "entry-point", "OCI layout", "Debian 12, 2 layers; ENTRYPOINT, CMD, WORKDIR", _entry_point, ()
    ),
    ForeignImage("named-user", "docker save", "Debian 12; USER app:data", _named_user, ()),
    ForeignImage("sif", "SIF", "Debian 13; ENV and ENTRYPOINT of a container image", _sif, ()),
    ForeignImage("squashfs", "squashfs", "Debian 11, its own perl", _squashfs, ("perl", "-e", _PERL)),
    ForeignImage("musl", "tar.gz", "busybox and musl, no glibc, no passwd", _musl, ("/opt/as-stated",)),
    ForeignImage("bare", "directory", "one static program; no shell, no /etc", _bare, ("/as-stated",)),
    ForeignImage(
        "numbered-user",
        "docker:NAME",
        "Debian 12; USER 1001:1002, a script as ENTRYPOINT",
        _numbered_user,
        (),
    ),
    ForeignImage("mpich", "podman:NAME", "Debian 12 with MPICH 4", _mpich, ("ranks", "{ranks}"), ("--mpi",)),
    ForeignImage(
        "open-mpi-5", "OCI archive", "Debian 13 with Open MPI 5", _open_mpi, ("ranks", "{ranks}"), ("--mpi",)
    ),
)
