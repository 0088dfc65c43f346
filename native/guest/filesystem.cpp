// SPDX-License-Identifier: Apache-2.0
#include "guest/filesystem.hpp"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "common/system.hpp"
#include "guest/waiting.hpp"

namespace tare::guest {

namespace {

namespace fs = std::filesystem;

constexpr const char* image = "/image";
constexpr const char* layer = "/layer";
constexpr const char* root = "/root";

struct Mount {
    std::string source;
    std::string type;
    unsigned long flags = 0;
    std::string options;
};

/// Mounts at `point`, which is made if it is not there.
void mount_at(const fs::path& point, const Mount& what) {
    fs::create_directories(point);
    if (::mount(what.source.c_str(), point.c_str(), what.type.c_str(), what.flags, what.options.c_str()) !=
        0) {
        throw_errno("cannot mount '" + what.source + "' (" + what.type + ") at '" + point.string() + "'");
    }
}

/// The disk's node: `device` itself, or that of the one disk below a folder of sysfs, such as
/// /sys/class/scsi_device/0:0:0:0/device/block. SCSI and ATA disks get their letters in the order in which
/// they happen to be ready (the kernel's drivers/scsi/sd.c), whatever port they are on.
std::optional<std::string> find_disk(const std::string& device) {
    std::error_code none;
    fs::path node{device};
    if (fs::is_directory(node, none)) {
        const fs::directory_iterator first{node, none};
        if (none || first == fs::directory_iterator{}) {
            return std::nullopt;
        }
        node = "/dev" / first->path().filename();
    }
    return fs::is_block_file(node, none) ? std::optional{node.string()} : std::nullopt;
}

void mount_disk(const fs::path& point, const Disk& disk, unsigned long flags) {
    const std::string node =
        wait_for("the disk '" + disk.device + "'", [&] { return find_disk(disk.device); });
    mount_at(point, {.source = node, .type = disk.type, .flags = flags, .options = ""});
}

/// As the layers of containers are mounted.
void mount_layer(const Layer& kind) {
    if (const auto* const disk = std::get_if<Disk>(&kind)) {
        mount_disk(layer, *disk, MS_NOSUID);
        return;
    }
    const auto size = std::to_string(std::get<Memory>(kind).size_byte);
    mount_at(
        layer,
        {.source = "tare", .type = "tmpfs", .flags = MS_NOSUID, .options = "size=" + size + ",mode=755"});
}

void mount_overlay() {
    const fs::path upper = fs::path{layer} / "upper";
    const fs::path work = fs::path{layer} / "overlay-work";
    fs::create_directories(upper);
    fs::create_directories(work);
    mount_at(root, {.source = "tare",
                    .type = "overlay",
                    .flags = 0,
                    .options = "lowerdir=" + std::string{image} + ",upperdir=" + upper.string() +
                               ",workdir=" + work.string()});
}

/// A directory of the host.
void mount_bind(const Bind& bind) {
    mount_at(fs::path{root} / fs::path{bind.target}.relative_path(),
             {.source = bind.tag,
              .type = bind.type,
              .flags = bind.writable ? 0 : static_cast<unsigned long>(MS_RDONLY),
              .options = bind.type == "9p" ? "trans=virtio,version=9p2000.L,msize=262144,cache=mmap" : ""});
}

/// On the layer itself, not through the overlay, as in containers.
void mount_work(const std::string& work) {
    const fs::path source = fs::path{layer} / "work";
    fs::create_directories(source);
    mount_at(fs::path{root} / fs::path{work}.relative_path(),
             {.source = source, .type = "none", .flags = MS_BIND, .options = ""});
}

void move_into_root(const fs::path& point) {
    mount_at(fs::path{root} / point.relative_path(),
             {.source = point, .type = "none", .flags = MS_MOVE, .options = ""});
}

/// What programs expect to find in /dev beside the kernel's nodes.
void complete_devices(std::uint64_t shm_byte) {
    mount_at("/dev/pts", {.source = "devpts",
                          .type = "devpts",
                          .flags = MS_NOSUID | MS_NOEXEC,
                          .options = "ptmxmode=0666,mode=620,gid=5"});
    mount_at("/dev/shm", {.source = "tare",
                          .type = "tmpfs",
                          .flags = MS_NOSUID | MS_NODEV,
                          .options = "mode=1777,size=" + std::to_string(shm_byte)});
    constexpr std::array<std::pair<const char*, const char*>, 4> links{{{"/proc/self/fd", "/dev/fd"},
                                                                        {"/proc/self/fd/0", "/dev/stdin"},
                                                                        {"/proc/self/fd/1", "/dev/stdout"},
                                                                        {"/proc/self/fd/2", "/dev/stderr"}}};
    for (const auto& [target, link] : links) {
        std::ignore = ::symlink(target, link);  // the kernel or an image may have it already
    }
}

}  // namespace

void mount_kernel_filesystems() {
    mount_at("/proc", {.source = "proc", .type = "proc", .flags = 0, .options = ""});
    mount_at("/sys", {.source = "sysfs", .type = "sysfs", .flags = 0, .options = ""});
    mount_at("/dev", {.source = "devtmpfs", .type = "devtmpfs", .flags = 0, .options = "mode=755"});
}

fs::path mount_root(const Boot& boot) {
    complete_devices(boot.shm_byte);
    mount_disk(image, boot.root, MS_RDONLY);
    mount_layer(boot.layer);
    mount_overlay();
    if (!boot.work.empty()) {
        mount_work(boot.work);
    }
    for (const Bind& bind : boot.binds) {
        mount_bind(bind);
    }
    for (const char* const point : {"/proc", "/sys", "/dev"}) {
        move_into_root(point);
    }
    return root;
}

void switch_root(const fs::path& new_root) {
    // The initramfs stays below: its few files cost less than the time to remove them.
    if (::chdir(new_root.c_str()) != 0 || ::mount(".", "/", nullptr, MS_MOVE, nullptr) != 0 ||
        ::chroot(".") != 0 || ::chdir("/") != 0) {
        throw_errno("cannot make '" + new_root.string() + "' the root");
    }
}

}  // namespace tare::guest
