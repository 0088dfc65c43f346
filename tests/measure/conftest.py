# SPDX-License-Identifier: Apache-2.0
from tests.unprivileged.conftest import user

__all__ = ["user"]
