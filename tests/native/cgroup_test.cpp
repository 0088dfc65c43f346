// SPDX-License-Identifier: Apache-2.0
#include "stopwatch/cgroup.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

/// A folder that plays both /proc/self/cgroup and /sys/fs/cgroup.
class FakeGroups {
  public:
    FakeGroups() {
        std::string pattern = fs::temp_directory_path() / "tare-cgroup-XXXXXX";
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        root_ = pattern;
    }
    FakeGroups(const FakeGroups&) = delete;
    FakeGroups& operator=(const FakeGroups&) = delete;
    FakeGroups(FakeGroups&&) = delete;
    FakeGroups& operator=(FakeGroups&&) = delete;
    ~FakeGroups() { fs::remove_all(root_); }

    void write(const fs::path& file, const std::string& text) const {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream{root_ / file} << text;
    }

    [[nodiscard]] tare::stopwatch::VisibleLimits limits() const {
        return tare::stopwatch::visible_limits(root_ / "membership", root_ / "mount");
    }

  private:
    fs::path root_;
};

TEST_CASE("limits of version 2 are those of the own group") {
    const FakeGroups groups;
    groups.write("membership", "0::/tare/n0\n");
    groups.write("mount/tare/n0/memory.max", "536870912\n");
    groups.write("mount/tare/n0/cpu.max", "50000 100000\n");
    CHECK(groups.limits().memory_byte == 536870912U);
    CHECK(groups.limits().cpu_quota == 0.5);
}

TEST_CASE("a tighter limit above the own group counts") {
    const FakeGroups groups;
    groups.write("membership", "0::/tare/n0\n");
    groups.write("mount/tare/memory.max", "1000\n");
    groups.write("mount/tare/cpu.max", "150000 100000\n");
    groups.write("mount/tare/n0/memory.max", "2000\n");
    groups.write("mount/tare/n0/cpu.max", "max 100000\n");
    CHECK(groups.limits().memory_byte == 1000U);
    CHECK(groups.limits().cpu_quota == 1.5);
}

TEST_CASE("unlimited is missing in version 2") {
    const FakeGroups groups;
    groups.write("membership", "0::/\n");
    groups.write("mount/memory.max", "max\n");
    groups.write("mount/cpu.max", "max 100000\n");
    CHECK_FALSE(groups.limits().memory_byte.has_value());
    CHECK_FALSE(groups.limits().cpu_quota.has_value());
}

TEST_CASE("limits of version 1 are found in each controller's own hierarchy") {
    const FakeGroups groups;
    groups.write("membership", "4:memory:/tare/n0\n1:cpu,cpuacct:/tare/n0\n0::/\n");
    groups.write("mount/memory/tare/n0/memory.limit_in_bytes", "209715200\n");
    groups.write("mount/cpu,cpuacct/tare/n0/cpu.cfs_quota_us", "25000\n");
    groups.write("mount/cpu,cpuacct/tare/n0/cpu.cfs_period_us", "100000\n");
    CHECK(groups.limits().memory_byte == 209715200U);
    CHECK(groups.limits().cpu_quota == 0.25);
}

TEST_CASE("unlimited is missing in version 1") {
    const FakeGroups groups;
    groups.write("membership", "4:memory:/\n1:cpu:/\n");
    groups.write("mount/memory/memory.limit_in_bytes", "9223372036854771712\n");
    groups.write("mount/cpu/cpu.cfs_quota_us", "-1\n");
    groups.write("mount/cpu/cpu.cfs_period_us", "100000\n");
    CHECK_FALSE(groups.limits().memory_byte.has_value());
    CHECK_FALSE(groups.limits().cpu_quota.has_value());
}

TEST_CASE("a container that is told the host's path finds its limits at the root of its mount") {
    const FakeGroups groups;
    groups.write("membership", "4:memory:/docker/0123abcd\n0::/../../other\n");
    groups.write("mount/memory/memory.limit_in_bytes", "1048576\n");
    groups.write("mount/cpu.max", "100000 50000\n");
    CHECK(groups.limits().memory_byte == 1048576U);
    CHECK(groups.limits().cpu_quota == 2.0);
}

TEST_CASE("no limits are seen where no control group is mounted, or the files hold nonsense") {
    const FakeGroups groups;
    CHECK_FALSE(groups.limits().memory_byte.has_value());
    groups.write("membership", "nonsense\n::\n0::/\n:\n");
    groups.write("mount/memory.max", "many\n");
    groups.write("mount/cpu.max", "\n");
    CHECK_FALSE(groups.limits().memory_byte.has_value());
    CHECK_FALSE(groups.limits().cpu_quota.has_value());
}

}  // namespace
