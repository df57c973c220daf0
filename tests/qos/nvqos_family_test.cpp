// SPDX-License-Identifier: MIT OR GPL-2.0
// Processes that descend from others, with real ones.
#include "tools/nvqos/family.hpp"

#include "tests/driver/waiting.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace nvqos;
using nvdebug::base::Birth;

Birth birth_of(pid_t pid) {
    return nvdebug::base::state_of(static_cast<std::uint32_t>(pid))->birth;
}

nvdebug::Process process_of(const Birth &birth, const std::string &cgroup = "/") {
    nvdebug::Process process{birth.pid, "it", cgroup};
    process.started = birth.started;
    return process;
}

/// A child, with a child of its own.
class Descendants : public testing::Test {
  protected:
    Descendants() {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        child = ::fork();
        if (child == 0) {
            const pid_t own = ::fork();
            if (own > 0)
                static_cast<void>(!::write(ends[1], &own, sizeof(own)));
            for (;;)
                ::pause();
        }
        EXPECT_EQ(::read(ends[0], &grandchild, sizeof(grandchild)),
                  static_cast<ssize_t>(sizeof(grandchild)));
        ::close(ends[0]);
        ::close(ends[1]);
    }
    ~Descendants() override {
        ::kill(grandchild, SIGKILL);
        end_child();
    }
    void end_child() {
        if (child > 0) {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
        child = -1;
    }

    Family family;
    pid_t child = -1, grandchild = -1;
};

TEST_F(Descendants, BelongAlsoOnceTheirParentHasEnded) {
    family.add(birth_of(child));
    const Birth own = birth_of(grandchild);
    EXPECT_FALSE(family.has(process_of(birth_of(::getpid()))));
    EXPECT_TRUE(family.has(process_of(own)));
    end_child();
    EXPECT_TRUE(family.has(process_of(own)));
    family.look(nvdebug::base::all_processes());
    EXPECT_EQ(family.members(), std::set<Birth>{own});
    EXPECT_FALSE(family.has_ended());
    ::kill(grandchild, SIGKILL);
    EXPECT_TRUE(driver_test::comes_true([&] { return family.has_ended(); }));
}

TEST_F(Descendants, AreFoundAmongAll) {
    family.add(birth_of(child));
    family.look(nvdebug::base::all_processes());
    EXPECT_EQ(family.members(), (std::set<Birth>{birth_of(child), birth_of(grandchild)}));
}

TEST_F(Descendants, AreNotThoseOfAnotherOfThatNumber) {
    Birth other = birth_of(child);
    other.started--;
    family.add(other);
    EXPECT_FALSE(family.has(process_of(birth_of(grandchild))));
    EXPECT_FALSE(family.has(process_of(birth_of(child))));
    family.look(nvdebug::base::all_processes());
    EXPECT_TRUE(family.members().empty());
    EXPECT_TRUE(family.has_ended());
}

TEST(Families, AreOfACgroupAndBelowIt) {
    Family family;
    family.add_cgroup("/slurm/job_1");
    EXPECT_TRUE(family.has(process_of({17, 1}, "/slurm/job_1")));
    EXPECT_TRUE(family.has(process_of({17, 1}, "/slurm/job_1/step_0")));
    EXPECT_FALSE(family.has(process_of({17, 1}, "/slurm/job_11")));
}

} // namespace
