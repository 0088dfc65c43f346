// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tare::guest {

/// The first process of a virtual machine that Tare started: makes it what /boot.conf says and serves its
/// channel. Does not return: the machine is powered off at the end, with one line on its console when that is
/// no end that was asked for.
[[noreturn]] void be_guest();

}  // namespace tare::guest
