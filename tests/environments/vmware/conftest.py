# SPDX-License-Identifier: Apache-2.0
"""One simulated vCenter for all tests of ``vmware``; it starts in a moment."""

from collections.abc import Iterator

import pytest
from tests.environments.vmware.simulated_vcenter import GOVC, VCSIM, Vcenter, running_vcenter


@pytest.fixture(scope="session")
def vcenter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vcenter]:
    if not (GOVC.exists() and VCSIM.exists()):
        pytest.skip("no govc and vcsim: scripts/build-govc")
    with running_vcenter(tmp_path_factory.mktemp("vcenter")) as result:
        yield result


@pytest.fixture(autouse=True)
def nobodys_vcenter(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of whoever runs the tests is left alone."""
    for name in ("URL", "USERNAME", "PASSWORD", "INSECURE", "DATACENTER", "TLS_CA_CERTS", "TLS_KNOWN_HOSTS"):
        monkeypatch.delenv(f"GOVC_{name}", raising=False)
