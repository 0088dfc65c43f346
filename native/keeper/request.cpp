// SPDX-License-Identifier: Apache-2.0
#include "keeper/request.hpp"

#include <algorithm>

#include "channel/frame.hpp"

namespace tare::keeper {

namespace {

using channel::ProtocolError;

bool holds_null(const std::string& text) { return text.find('\0') != std::string::npos; }

bool is_variable(const std::string& text) { return text.find('=') != std::string::npos && text[0] != '='; }

/// The guest must get nothing that it would take for a broken channel. Throws ProtocolError.
void check_command(const std::string& payload) {
    const auto command = channel::decode_execute(payload);
    if (!command.directory.starts_with('/') ||
        !std::all_of(command.variables.begin(), command.variables.end(), is_variable)) {
        throw ProtocolError("the request has no absolute directory, or variables without names");
    }
    if (holds_null(command.directory) ||
        std::any_of(command.arguments.begin(), command.arguments.end(), holds_null) ||
        std::any_of(command.variables.begin(), command.variables.end(), holds_null)) {
        throw ProtocolError("the request holds a byte that no argument can hold");
    }
}

}  // namespace

std::string fault_of(const Message& message) {
    if (!message.whole || message.files.size() != standard_files) {
        return "the request came without its three files, or is too long";
    }
    try {
        check_command(message.bytes);
    } catch (const ProtocolError& error) {
        return error.what();
    }
    return {};
}

}  // namespace tare::keeper
