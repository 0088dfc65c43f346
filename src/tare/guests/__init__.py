# SPDX-License-Identifier: Apache-2.0
"""The parts of every virtual machine that Tare makes: a kernel, an initramfs, the one image as a disk, a channel.

The program that runs the machine is another matter: ``environments/qemu``, ``environments/libvirt`` and others.
"""
