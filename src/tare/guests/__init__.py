# SPDX-License-Identifier: Apache-2.0
"""What every virtual machine of Tare's own is made of: a kernel, an initramfs, the one image as a disk, a channel.

Which program runs the machine is another matter: ``environments/qemu``, ``environments/libvirt`` and their likes.
"""
