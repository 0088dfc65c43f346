# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator

import pytest
from tests.unprivileged.ordinary_user import OrdinaryUser, made_user


@pytest.fixture
def user() -> Iterator[OrdinaryUser]:
    with made_user() as made:
        yield made
