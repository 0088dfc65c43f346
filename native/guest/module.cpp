// SPDX-License-Identifier: Apache-2.0
#include "guest/module.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_descriptor.hpp"
#include "common/system.hpp"

namespace tare::guest {

void load_module(const std::string& file) {
    const FileDescriptor module{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!module) {
        throw_errno("cannot read the module '" + file + "'");
    }
    // finit_module(2) has no wrapper in the C library.
    if (::syscall(SYS_finit_module, module.number(), "", 0) != 0 && errno != EEXIST) {
        throw_errno("cannot load the module '" + file + "'");
    }
}

}  // namespace tare::guest
