// SPDX-License-Identifier: MIT OR GPL-2.0
// The thread that keeps goals has a deadline, so it reads nothing of other users' processes,
// however many ancestors, tenants and descriptors these have. Reads are counted:
// tests/qos/CMakeLists.txt has the linker put the functions below in the place of open() and
// nvtaskset::page_of().
#include "kept.hpp"

#include <cstdarg>
#include <fcntl.h>
#include <string_view>
#include <thread>

namespace {

thread_local std::uint64_t opened_of_proc = 0, pages_looked_for = 0;

} // namespace

extern "C" {
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    opened_of_proc += std::string_view(path).starts_with("/proc/");
    va_list more;
    va_start(more, flags);
    const auto mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return __real_open(path, flags, mode);
}

// nvtaskset::page_of()
using Found = std::shared_ptr<nvtaskset::Page>;
Found __real__ZN9nvtaskset7page_ofEiNS_6AccessE(pid_t pid, nvtaskset::Access access);
Found __wrap__ZN9nvtaskset7page_ofEiNS_6AccessE(pid_t pid, nvtaskset::Access access);
Found __wrap__ZN9nvtaskset7page_ofEiNS_6AccessE(pid_t pid, nvtaskset::Access access) {
    pages_looked_for++;
    return __real__ZN9nvtaskset7page_ofEiNS_6AccessE(pid, access);
}
}

namespace served {
namespace {

using nvdebug::base::Birth;
using nvdebug::base::ProcessState;
using qos::ms;

/// Process 557 has many ancestors below the tenants' root, and tasks come while goals are kept.
class Reads : public Kept {
  protected:
    /// Returns how many files this thread opened in /proc. Other threads make all searches.
    std::uint64_t of(std::uint32_t ancestors, std::uint32_t tenants) {
        constexpr std::uint32_t first_ancestor = 20'000'000;
        std::vector<ProcessState> all = {
            {{static_cast<std::uint32_t>(::getpid()),
              nvdebug::base::state_of(static_cast<std::uint32_t>(::getpid()))->birth.started},
             1,
             false}};
        for (std::uint32_t n = 0; n < ancestors; n++)
            all.push_back({{first_ancestor + n, 5}, n ? first_ancestor + n - 1 : 1, false});
        all.push_back({{557, 10}, first_ancestor + ancestors - 1, false});
        std::vector<std::shared_ptr<nvqos::Family>> families;
        for (std::uint32_t n = 0; n < tenants; n++) {
            families.push_back(std::make_shared<nvqos::Family>());
            // The last tenant has process 557.
            families.back()->add(n + 1 == tenants ? Birth{first_ancestor, 5} : Birth{1, n + 1000});
            asked.tenants.push_back(
                {"job" + std::to_string(n), {}, {.cap = 30 * qos::point}, families.back()});
        }
        asked.tenants.push_back({"all", {.all_of = 558}, {.cap = 40 * qos::point}});
        sim.set_bursts(0, simulated::always());
        const auto own = std::this_thread::get_id();
        const std::uint64_t opened = opened_of_proc, pages = pages_looked_for;
        start({},
              {.longest_unlooked = 200 * ms,
               .processes =
                   [&all, own] {
                       EXPECT_NE(std::this_thread::get_id(), own);
                       return all;
                   }},
              std::launch::async);
        EXPECT_TRUE(gpu_goals);
        keep_until(500 * ms);
        EXPECT_EQ(reports.back().tenants[tenants - 1].tasks, 1U) << "it was found";
        add_third(600, simulated::always());
        keep_until(sim.now() + 500 * ms);
        for (std::uint32_t n = 0; n < 10; n++)
            gpu_goals->assign_tenants();
        gpu_goals.reset();
        EXPECT_EQ(pages_looked_for, pages) << "it reads all descriptors";
        return opened_of_proc - opened;
    }
};

TEST_F(Reads, AreNoneForAProcessWithoutAncestors) {
    EXPECT_EQ(of(1, 1), 0U);
}

TEST_F(Reads, AreNoMoreWithAThousandAncestors) {
    EXPECT_EQ(of(1'000, 1), 0U);
}

TEST_F(Reads, AreNoMoreWithAHundredTenants) {
    EXPECT_EQ(of(1'000, 100), 0U);
}

} // namespace
} // namespace served
