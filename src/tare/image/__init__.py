# SPDX-License-Identifier: Apache-2.0
"""The one root filesystem that every environment runs: build, digest, manifest, import."""

from tare.image.store import DEFAULT_NAME, Image, find_image, in_use, list_images, verify

__all__ = ["DEFAULT_NAME", "Image", "find_image", "in_use", "list_images", "verify"]
