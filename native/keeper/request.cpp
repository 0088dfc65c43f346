// SPDX-License-Identifier: Apache-2.0
#include "keeper/request.hpp"

#include "channel/frame.hpp"

namespace tare::keeper {

std::string fault_of(const Message& message) {
    if (!message.whole || message.files.size() != standard_files) {
        return "the request came without its three files, or is too long";
    }
    try {
        static_cast<void>(channel::decode_execute(message.bytes));
    } catch (const channel::ProtocolError& error) {
        return error.what();
    }
    return {};
}

}  // namespace tare::keeper
