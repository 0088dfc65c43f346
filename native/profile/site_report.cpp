// SPDX-License-Identifier: Apache-2.0
#include "profile/site_report.hpp"

#include <map>
#include <optional>
#include <string>

#include "profile/functions.hpp"
#include "profile/report.hpp"

namespace tare::profile {

namespace {

/// Where a call comes from, as far as that is known.
struct Place {
    std::optional<std::string> module;
    /// In the addresses of the module's file.
    std::optional<std::uint64_t> offset;
    std::optional<std::string> function;
};

const ModuleRecord* module_of(const RankRecord& record, std::uint64_t address) {
    const auto* const module =
        std::find_if(record.modules.begin(), record.modules.end(),
                     [&](const ModuleRecord& known) { return known.contains(address); });
    return module == record.modules.end() ? nullptr : &*module;
}

/// Reads each file once.
class Places {
  public:
    explicit Places(const RankRecord& record) : record_{&record} {}

    [[nodiscard]] Place of(std::uint64_t address) {
        const ModuleRecord* const module = module_of(*record_, address);
        if (module == nullptr) {
            return {};
        }
        const std::string path = text_of(module->path);
        const std::uint64_t offset = address - module->shift;
        // The call is what ends there; what follows it may be another function's beginning.
        const std::string name = functions_.try_emplace(path, path).first->second.at(offset - 1);
        return {
            .module = path, .offset = offset, .function = name.empty() ? std::nullopt : std::optional{name}};
    }

  private:
    const RankRecord* record_;
    std::map<std::string, Functions> functions_;
};

std::vector<const SiteRecord*> by_time(const SiteTable& table) {
    std::vector<const SiteRecord*> sites;
    for (const SiteRecord& site : table.places) {
        if (site.address != 0 && index_of(site.call) < call_count) {
            sites.push_back(&site);
        }
    }
    std::sort(sites.begin(), sites.end(), [](const SiteRecord* left, const SiteRecord* right) {
        return left->time_ticks != right->time_ticks ? left->time_ticks > right->time_ticks
                                                     : left->address < right->address;
    });
    return sites;
}

JsonObject row(const RankRecord& record, const SiteRecord& site, std::optional<std::string_view> call,
               const Place& place) {
    return JsonObject{}
        .add("call", call)
        .add("module", place.module)
        .add("offset", place.offset)
        .add("function", place.function)
        .add("count", site.count)
        .add("time_s", record.seconds(site.time_ticks))
        .add("longest_s", record.seconds(site.longest_ticks))
        .add("sent_byte", site.sent_byte)
        .add("received_byte", site.received_byte);
}

/// In hexadecimal, as tools print it; nothing if the linker gave none.
std::optional<std::string> build_text(const ModuleRecord& module) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr unsigned digit_bits = 4;
    constexpr unsigned low_digit = 0xF;
    std::string text;
    for (const std::uint8_t byte : module.build) {
        text += digits.at(byte >> digit_bits);
        text += digits.at(byte & low_digit);
    }
    return text.find_first_not_of('0') == std::string::npos ? std::nullopt : std::optional{text};
}

}  // namespace

std::vector<JsonObject> call_sites(const RankRecord& record) {
    Places places{record};
    std::vector<JsonObject> rows;
    for (const SiteRecord* const site : by_time(record.sites)) {
        rows.push_back(
            row(record, *site, call_table.at(index_of(site->call)).name, places.of(site->address)));
    }
    if (record.sites.left_out.count > 0) {
        rows.push_back(row(record, record.sites.left_out, std::nullopt, {}));
    }
    return rows;
}

std::vector<JsonObject> modules_of_sites(const RankRecord& record) {
    std::vector<JsonObject> rows;
    for (const ModuleRecord& module : record.modules) {
        const bool has_sites = std::any_of(
            record.sites.places.begin(), record.sites.places.end(),
            [&](const SiteRecord& site) { return site.address != 0 && module.contains(site.address); });
        if (has_sites) {
            rows.push_back(
                JsonObject{}.add("path", text_of(module.path)).add("build_id", build_text(module)));
        }
    }
    return rows;
}

}  // namespace tare::profile
