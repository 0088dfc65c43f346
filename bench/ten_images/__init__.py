# SPDX-License-Identifier: Apache-2.0
"""Ten container images as others make them, built of Debian packages; each is weighed in four environments."""
