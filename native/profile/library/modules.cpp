// SPDX-License-Identifier: Apache-2.0
#include "profile/library/modules.hpp"

#include <elf.h>
#include <link.h>

#include <bit>
#include <cstring>
#include <span>
#include <string_view>

#include "profile/report.hpp"

namespace tare::profile {

namespace {

using Segments = std::span<const ElfW(Phdr)>;

/// A segment in this process's memory.
std::span<const std::byte> memory_of(const dl_phdr_info& library, const ElfW(Phdr) & segment) {
    return {std::bit_cast<const std::byte*>(library.dlpi_addr + segment.p_vaddr), segment.p_memsz};
}

std::size_t padded(std::size_t byte) {
    constexpr std::size_t word_byte = 4;
    return (byte + word_byte - 1) / word_byte * word_byte;
}

/// The note of a name and a type (elf(5)); empty if there is none.
std::span<const std::byte> note_of(std::span<const std::byte> notes, std::string_view name, unsigned type) {
    while (notes.size() >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head{};
        std::memcpy(&head, notes.data(), sizeof head);
        const std::size_t text_begin = sizeof head + padded(head.n_namesz);
        if (text_begin + padded(head.n_descsz) > notes.size()) {
            return {};
        }
        const auto own = notes.subspan(sizeof head, head.n_namesz);
        if (head.n_type == type && own.size() == name.size() &&
            std::memcmp(own.data(), name.data(), name.size()) == 0) {
            return notes.subspan(text_begin, head.n_descsz);
        }
        notes = notes.subspan(text_begin + padded(head.n_descsz));
    }
    return {};
}

void note_build(const dl_phdr_info& library, const ElfW(Phdr) & segment, ModuleRecord& module) {
    constexpr std::string_view owner{"GNU", sizeof "GNU"};
    const auto build = note_of(memory_of(library, segment), owner, NT_GNU_BUILD_ID);
    if (!build.empty()) {
        std::memcpy(module.build.data(), build.data(), std::min(build.size(), module.build.size()));
    }
}

ModuleRecord module_record(const dl_phdr_info& library, std::string_view program) {
    ModuleRecord module{
        .begin_address = UINT64_MAX, .end_address = 0, .shift = library.dlpi_addr, .build = {}, .path = {}};
    for (const auto& segment : Segments{library.dlpi_phdr, library.dlpi_phnum}) {
        if (segment.p_type == PT_LOAD) {
            const std::uint64_t begin = library.dlpi_addr + segment.p_vaddr;
            module.begin_address = std::min(module.begin_address, begin);
            module.end_address = std::max(module.end_address, begin + segment.p_memsz);
        } else if (segment.p_type == PT_NOTE) {
            note_build(library, segment, module);
        }
    }
    const std::string_view name{library.dlpi_name};
    const std::string_view path = name.empty() ? program : name;
    std::copy_n(path.begin(), std::min(path.size(), ModuleRecord::path_size - 1), module.path.begin());
    return module;
}

bool has_sites(const RankRecord& record, const ModuleRecord& module) {
    return std::any_of(record.sites.places.begin(), record.sites.places.end(), [&](const SiteRecord& site) {
        return site.address != 0 && module.contains(site.address);
    });
}

struct Notes {
    RankRecord* record;
    bool of_sites_alone;
};

/// For dl_iterate_phdr(3).
int note(dl_phdr_info* library, std::size_t /*size*/, void* data) {
    const Notes& notes = *static_cast<const Notes*>(data);
    RankRecord& record = *notes.record;
    const ModuleRecord module = module_record(*library, text_of(record.program));
    auto* const place = std::find_if(record.modules.begin(), record.modules.end(), [&](const auto& known) {
        return known.begin_address == 0 || known.begin_address == module.begin_address;
    });
    if (place != record.modules.end() && (!notes.of_sites_alone || has_sites(record, module))) {
        *place = module;
    }
    return 0;
}

}  // namespace

void note_modules(RankRecord& record) {
    Notes notes{.record = &record, .of_sites_alone = false};
    ::dl_iterate_phdr(note, &notes);
}

void keep_modules_of_sites(RankRecord& record) {
    auto* const end = std::remove_if(record.modules.begin(), record.modules.end(),
                                     [&](const ModuleRecord& module) { return !has_sites(record, module); });
    std::fill(end, record.modules.end(), ModuleRecord{});
    Notes notes{.record = &record, .of_sites_alone = true};
    ::dl_iterate_phdr(note, &notes);
}

}  // namespace tare::profile
