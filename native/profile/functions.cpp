// SPDX-License-Identifier: Apache-2.0
#include "profile/functions.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "common/file_descriptor.hpp"

namespace tare::profile {

namespace {

constexpr unsigned char own_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

/// A file's bytes while this lives; none if it cannot be mapped.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path) {
        const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
        struct stat status {};
        if (!file || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode) ||
            status.st_size == 0) {
            return;
        }
        const auto byte = static_cast<std::size_t>(status.st_size);
        void* const memory = ::mmap(nullptr, byte, PROT_READ, MAP_PRIVATE, file.number(), 0);
        if (memory != MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr): the system's own macro
            bytes_ = {static_cast<const char*>(memory), byte};
        }
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    MappedFile(MappedFile&&) = delete;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile() {
        if (!bytes_.empty()) {
            // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): munmap(2) takes it so
            ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
        }
    }

    [[nodiscard]] std::string_view bytes() const { return bytes_; }

  private:
    std::string_view bytes_;
};

/// Part of a file; empty if it lies outside.
std::string_view part(std::string_view file, std::uint64_t begin, std::uint64_t byte) {
    return begin <= file.size() && byte <= file.size() - begin ? file.substr(begin, byte)
                                                               : std::string_view{};
}

/// The item of a number in a table, wherever it lies.
template <typename Item>
std::optional<Item> item(std::string_view table, std::uint64_t number) {
    if (number >= table.size() / sizeof(Item)) {
        return std::nullopt;
    }
    Item read{};
    std::memcpy(&read, table.substr(number * sizeof(Item)).data(), sizeof read);
    return read;
}

std::string_view section_table(std::string_view file) {
    const auto head = item<Elf64_Ehdr>(file, 0);
    if (!head || std::memcmp(&head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_ident[EI_DATA] != own_order || head->e_shentsize != sizeof(Elf64_Shdr)) {
        return {};
    }
    return part(file, head->e_shoff, std::uint64_t{head->e_shnum} * sizeof(Elf64_Shdr));
}

std::optional<Elf64_Shdr> section_of(std::string_view sections, std::uint32_t type) {
    for (std::uint64_t number = 0; const auto section = item<Elf64_Shdr>(sections, number); ++number) {
        if (section->sh_type == type) {
            return section;
        }
    }
    return std::nullopt;
}

bool is_function(const Elf64_Sym& symbol) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && symbol.st_size > 0;
}

std::string text_at(std::string_view texts, std::uint64_t begin) {
    const auto text = texts.substr(std::min<std::uint64_t>(begin, texts.size()));
    return std::string{text.substr(0, text.find('\0'))};
}

/// What the compiler made of a name in C++ is turned back.
std::string demangled(const std::string& name) {
    struct Free {
        void operator()(char* memory) const {
            std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc, cppcoreguidelines-owning-memory)
        }
    };
    int status = 0;
    const std::unique_ptr<char, Free> text{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status)};
    return status == 0 ? std::string{text.get()} : name;
}

}  // namespace

Functions::Functions(const std::string& path) {
    const MappedFile file{path};
    read(file.bytes());
    std::stable_sort(functions_.begin(), functions_.end(),
                     [](const auto& left, const auto& right) { return left.begin < right.begin; });
}

void Functions::read(std::string_view file) {
    const std::string_view sections = section_table(file);
    auto table = section_of(sections, SHT_SYMTAB);
    table = table ? table : section_of(sections, SHT_DYNSYM);
    const auto texts = item<Elf64_Shdr>(sections, table ? table->sh_link : UINT32_MAX);
    if (!table || !texts) {
        return;
    }
    const std::string_view symbols = part(file, table->sh_offset, table->sh_size);
    const std::string_view names = part(file, texts->sh_offset, texts->sh_size);
    for (std::uint64_t number = 0; const auto symbol = item<Elf64_Sym>(symbols, number); ++number) {
        if (is_function(*symbol)) {
            functions_.push_back({.begin = symbol->st_value,
                                  .end = symbol->st_value + symbol->st_size,
                                  .name = text_at(names, symbol->st_name)});
        }
    }
}

std::string Functions::at(std::uint64_t address) const {
    const auto after = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uint64_t searched, const auto& function) { return searched < function.begin; });
    if (after == functions_.begin() || std::prev(after)->end <= address) {
        return {};
    }
    return demangled(std::prev(after)->name);
}

}  // namespace tare::profile
