// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "common/number.hpp"
#include "common/system.hpp"
#include "slices/os/operations.hpp"

namespace tare::slices {

namespace {

using Word = std::uint64_t;

class Mapped {
  public:
    explicit Mapped(std::size_t size_byte)
        : begin_{::mmap(nullptr, size_byte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)},
          size_byte_{size_byte} {
        if (begin_ == MAP_FAILED) {
            throw_errno("cannot map " + std::to_string(size_byte) + " byte");
        }
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;
    Mapped(Mapped&&) = delete;
    Mapped& operator=(Mapped&&) = delete;
    ~Mapped() { ::munmap(begin_, size_byte_); }

    [[nodiscard]] void* begin() const { return begin_; }
    [[nodiscard]] std::size_t size_byte() const { return size_byte_; }

  private:
    void* begin_;
    std::size_t size_byte_;
};

void advise(std::span<Word> memory, int advice) {
    if (::madvise(memory.data(), memory.size_bytes(), advice) != 0) {
        throw_errno("cannot advise the kernel of pages");
    }
}

/// Anonymous memory in pages of one size.
class Pages {
  public:
    Pages(std::size_t page_byte, std::size_t pages, int advice)
        : page_words_{page_byte / sizeof(Word)},
          pages_{pages},
          mapped_{page_byte * (pages + 1)},
          used_{aligned()} {
        advise(used_, advice);
    }

    [[nodiscard]] std::size_t count() const { return pages_; }
    [[nodiscard]] std::size_t page_byte() const { return page_words_ * sizeof(Word); }

    /// Writes to a page; says whether nobody had written to it, so that it read as 0.
    [[nodiscard]] bool touch(std::size_t page) const {
        volatile Word& word = used_[page * page_words_];
        const bool fresh = word == 0;
        word = 1;
        return fresh;
    }

    void give_back() const { advise(used_, MADV_DONTNEED); }

  private:
    /// From where a page begins.
    [[nodiscard]] std::span<Word> aligned() const {
        void* start = mapped_.begin();
        std::size_t room_byte = mapped_.size_byte();
        if (std::align(page_byte(), pages_ * page_byte(), start, room_byte) == nullptr) {
            throw std::runtime_error("there is no room for aligned pages");
        }
        return {static_cast<Word*>(start), pages_ * page_words_};
    }

    std::size_t page_words_;
    std::size_t pages_;
    Mapped mapped_;
    std::span<Word> used_;
};

class Faults : public Piece {
  public:
    Faults(std::size_t page_byte, std::size_t pages, int advice) : pages_{page_byte, pages, advice} {}

    void finish() override { pages_.give_back(); }

    void work(std::uint64_t count) override {
        std::uint64_t fresh = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            const std::size_t page = unit % pages_.count();
            if (page == 0) {
                pages_.give_back();
            }
            fresh += pages_.touch(page) ? 1 : 0;
        }
        fresh_ = fresh;
        if (fresh != count) {
            throw std::runtime_error("a page that was given back still held what was written to it");
        }
    }

    [[nodiscard]] std::uint64_t checksum() const override { return fresh_; }

  protected:
    [[nodiscard]] const Pages& pages() const { return pages_; }
    [[nodiscard]] std::uint64_t fresh() const { return fresh_; }

  private:
    Pages pages_;
    std::uint64_t fresh_ = 0;
};

/// A figure of a file such as smaps_rollup, in KiB (proc_pid_smaps(5)).
std::optional<std::size_t> figure_kib(std::string_view text, std::string_view label) {
    const auto place = text.find(label);
    if (place == std::string_view::npos) {
        return std::nullopt;
    }
    const auto rest = trimmed(text.substr(place + label.size()));
    return parse_number<std::size_t>(rest.substr(0, rest.find(' ')));
}

/// What this process has in huge pages; nothing where the kernel does not say.
std::optional<std::size_t> huge_byte() {
    constexpr std::size_t kibibyte = 1024;
    const auto text = read_text("/proc/self/smaps_rollup");
    const auto size_kib = text ? figure_kib(*text, "AnonHugePages:") : std::nullopt;
    return size_kib ? std::optional{*size_kib * kibibyte} : std::nullopt;
}

class HugeFaults final : public Faults {
  public:
    HugeFaults(std::size_t page_byte, std::size_t pages) : Faults{page_byte, pages, MADV_HUGEPAGE} {
        work(pages);
        HugeFaults::finish();
    }

    /// Not timed: what was touched last must have been in huge pages.
    void finish() override {
        const std::size_t touched = (fresh() - 1) % pages().count() + 1;
        const auto with = huge_byte();
        Faults::finish();
        const auto without = huge_byte();
        if (!with || !without || *with - *without < touched * pages().page_byte()) {
            throw std::runtime_error(
                "the kernel gave no huge pages, or not enough of them; leave out the piece huge-page-fault");
        }
    }
};

std::size_t huge_page_byte() {
    const auto text = read_text("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    const auto size_byte = text ? parse_number<std::size_t>(trimmed(*text)) : std::nullopt;
    if (!size_byte || *size_byte == 0) {
        throw std::runtime_error("there are no huge pages here; leave out the piece huge-page-fault");
    }
    return *size_byte;
}

class Mapping final : public Piece {
  public:
    void work(std::uint64_t count) override {
        constexpr std::size_t size_byte = std::size_t{1} << 20U;
        std::uint64_t mapped = 0;
        for (std::uint64_t unit = 0; unit < count; ++unit) {
            const Mapped memory{size_byte};
            mapped += memory.begin() == nullptr ? 0 : 1;
        }
        mapped_ = mapped;
    }

    [[nodiscard]] std::uint64_t checksum() const override { return mapped_; }

  private:
    std::uint64_t mapped_ = 0;
};

}  // namespace

std::unique_ptr<Piece> make_page_fault() {
    constexpr std::size_t pages = 1024;
    return std::make_unique<Faults>(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), pages,
                                    MADV_NOHUGEPAGE);
}

std::unique_ptr<Piece> make_huge_page_fault() {
    constexpr std::size_t pages = 8;
    return std::make_unique<HugeFaults>(huge_page_byte(), pages);
}

std::unique_ptr<Piece> make_mapping() { return std::make_unique<Mapping>(); }

}  // namespace tare::slices
