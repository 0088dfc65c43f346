// SPDX-License-Identifier: Apache-2.0
#include "guest/boot.hpp"

#include <arpa/inet.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <stdexcept>

#include "common/number.hpp"

namespace tare::guest {

namespace {

using Words = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

Words split(std::string_view line) {
    Words words;
    for (;;) {
        const auto blank = line.find(' ');
        words.emplace_back(line.substr(0, blank));
        if (blank == std::string_view::npos) {
            return words;
        }
        line.remove_prefix(blank + 1);
    }
}

std::uint64_t size_byte(const std::string& word) {
    const auto size = parse_number<std::uint64_t>(word);
    if (!size || *size == 0) {
        refuse("'" + word + "' is no number of bytes");
    }
    return *size;
}

const std::string& absolute(const std::string& path) {
    if (!path.starts_with('/')) {
        refuse("'" + path + "' is no absolute path");
    }
    return path;
}

const std::string& ip_number(const std::string& word) {
    in_addr ignored{};
    if (::inet_pton(AF_INET, word.c_str(), &ignored) != 1) {
        refuse("'" + word + "' is no IPv4 address");
    }
    return word;
}

Address parse_address(const std::string& word) {
    constexpr unsigned most_bits = 32;
    const auto slash = word.find('/');
    const auto bits = slash == std::string::npos
                          ? std::nullopt
                          : parse_number<unsigned>(std::string_view{word}.substr(slash + 1));
    if (!bits || *bits > most_bits) {
        refuse("'" + word + "' is no address with its prefix");
    }
    return {.number = ip_number(word.substr(0, slash)), .prefix_bits = *bits};
}

Channel parse_channel(const Words& words) {
    if (words[1] == "virtio") {
        return VirtioPort{words[2]};
    }
    if (words[1] == "serial") {
        return SerialDevice{absolute(words[2])};
    }
    refuse("there is no channel of the kind '" + words[1] + "'");
}

Layer parse_layer(const Words& words) {
    if (words[1] == "tmpfs") {
        return Memory{size_byte(words[2])};
    }
    return Disk{.device = absolute(words[1]), .type = words[2]};
}

Bind parse_bind(const Words& words) {
    const std::string& access = words[3];
    if (access != "ro" && access != "rw") {
        refuse("'" + access + "' is neither 'ro' nor 'rw'");
    }
    return {.type = words[0] == "bind" ? "9p" : words[0],
            .tag = words[1],
            .target = absolute(words[2]),
            .writable = access == "rw"};
}

struct Setting {
    std::size_t words;  // with its own name
    bool repeated;
    std::function<void(Boot&, const Words&)> set;
};

const std::map<std::string, Setting>& settings() {
    static const std::map<std::string, Setting> table{
        {"channel", {3, false, [](Boot& boot, const Words& words) { boot.channel = parse_channel(words); }}},
        {"module",
         {2, true, [](Boot& boot, const Words& words) { boot.modules.push_back(absolute(words[1])); }}},
        {"root",
         {3, false,
          [](Boot& boot, const Words& words) {
              boot.root = {absolute(words[1]), words[2]};
          }}},
        {"layer", {3, false, [](Boot& boot, const Words& words) { boot.layer = parse_layer(words); }}},
        {"shm", {2, false, [](Boot& boot, const Words& words) { boot.shm_byte = size_byte(words[1]); }}},
        {"name", {2, false, [](Boot& boot, const Words& words) { boot.name = words[1]; }}},
        {"address",
         {2, false, [](Boot& boot, const Words& words) { boot.address = parse_address(words[1]); }}},
        {"gateway", {2, false, [](Boot& boot, const Words& words) { boot.gateway = ip_number(words[1]); }}},
        {"bind", {4, true, [](Boot& boot, const Words& words) { boot.binds.push_back(parse_bind(words)); }}},
        {"virtiofs",
         {4, true, [](Boot& boot, const Words& words) { boot.binds.push_back(parse_bind(words)); }}},
        {"work", {2, false, [](Boot& boot, const Words& words) { boot.work = absolute(words[1]); }}},
    };
    return table;
}

/// Sets what one line says; `seen` holds the names so far.
void set(Boot& boot, const Words& words, std::set<std::string>& seen) {
    const auto found = settings().find(words.front());
    if (found == settings().end()) {
        refuse("there is no setting '" + words.front() + "'");
    }
    const Setting& setting = found->second;
    if (words.size() != setting.words || std::set<std::string>{words.begin(), words.end()}.contains("")) {
        refuse("'" + words.front() + "' takes " + std::to_string(setting.words - 1) + " words");
    }
    if (!seen.insert(words.front()).second && !setting.repeated) {
        refuse("'" + words.front() + "' is set twice");
    }
    setting.set(boot, words);
}

}  // namespace

Boot parse_boot(std::string_view text) {
    Boot boot;
    std::set<std::string> seen;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = text.find('\n');
        try {
            set(boot, split(text.substr(0, end)), seen);
        } catch (const std::invalid_argument& wrong) {
            refuse("line " + std::to_string(number) + " of the boot configuration: " + wrong.what());
        }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    for (const char* const needed : {"channel", "root", "layer", "shm", "name"}) {
        if (!seen.contains(needed)) {
            refuse(std::string{"the boot configuration lacks '"} + needed + "'");
        }
    }
    return boot;
}

}  // namespace tare::guest
