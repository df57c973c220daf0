// SPDX-License-Identifier: MIT OR GPL-2.0
// Families of processes: descendants among real processes, and among a list that is made up.
#include "tools/nvqos/family.hpp"

#include "tests/support/waiting.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace nvqos;
using nvdebug::base::Birth;
using nvdebug::base::ProcessState;

Birth birth_of(pid_t pid) {
    return nvdebug::base::state_of(static_cast<std::uint32_t>(pid))->birth;
}

nvdebug::Process process_of(const Birth &birth, const std::string &cgroup = "/") {
    nvdebug::Process process{birth.pid, "it", cgroup};
    process.started = birth.started;
    return process;
}

/// A real child process, which has a child of its own.
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

    void look() {
        const std::vector<std::shared_ptr<Family>> all = {family};
        look_for_descendants(all);
    }

    const std::shared_ptr<Family> family = std::make_shared<Family>();
    pid_t child = -1, grandchild = -1;
};

TEST_F(Descendants, BelongAlsoOnceTheirParentHasEnded) {
    family->add(birth_of(child));
    const Birth own = birth_of(grandchild);
    EXPECT_FALSE(family->has(process_of(own))) << "nothing is read";
    look();
    EXPECT_FALSE(family->has(process_of(birth_of(::getpid()))));
    EXPECT_TRUE(family->has(process_of(own)));
    end_child();
    EXPECT_TRUE(family->has(process_of(own)));
    look();
    EXPECT_EQ(family->members(), std::set<Birth>{own});
    EXPECT_FALSE(family->has_ended());
    ::kill(grandchild, SIGKILL);
    EXPECT_TRUE(driver_test::comes_true([&] { return family->has_ended(); }));
}

TEST_F(Descendants, AreFoundAmongAll) {
    family->add(birth_of(child));
    look();
    EXPECT_EQ(family->members(), (std::set<Birth>{birth_of(child), birth_of(grandchild)}));
    EXPECT_EQ(family->found(), 1U);
    look();
    EXPECT_EQ(family->found(), 1U) << "it is no new one";
}

TEST_F(Descendants, AreNotThoseOfAnotherOfThatNumber) {
    Birth other = birth_of(child);
    other.started--;
    family->add(other);
    look();
    EXPECT_FALSE(family->has(process_of(birth_of(grandchild))));
    EXPECT_FALSE(family->has(process_of(birth_of(child))));
    EXPECT_TRUE(family->members().empty());
    EXPECT_TRUE(family->has_ended());
}

/// The first thread of a process may end before the others.
TEST_F(Descendants, LiveAsLongAsAThread) {
    end_child();
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    child = ::fork();
    if (child == 0) {
        ::close(ends[1]);
        std::thread([&] {
            char none = 0;
            static_cast<void>(!::read(ends[0], &none, 1));
            ::_exit(0);
        }).detach();
        ::syscall(SYS_exit, 0); // ends this thread alone
    }
    ::close(ends[0]);
    const auto pid = static_cast<std::uint32_t>(child);
    const auto state = [&] {
        std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
        std::string text;
        std::getline(file, text);
        return std::string(nvdebug::base::stat_field(text, 3));
    };
    ASSERT_TRUE(driver_test::comes_true([&] { return state() == "Z"; }));
    const Birth birth = birth_of(child);
    EXPECT_TRUE(nvdebug::base::lives(birth));
    family->add(birth);
    look();
    EXPECT_FALSE(family->has_ended());
    ::close(ends[1]);
    EXPECT_TRUE(driver_test::comes_true([&] { return family->has_ended(); }));
    EXPECT_EQ(state(), "Z") << "nobody has waited for it";
}

// --- among processes that are made up ---

/// Returns this process, and below it a chain of so many processes.
std::vector<ProcessState> chain(std::uint32_t length) {
    std::vector<ProcessState> all = {{birth_of(::getpid()), 1, false}};
    for (std::uint32_t n = 0; n < length; n++)
        all.push_back({{10'000'000 + n, 7}, n ? 10'000'000 + n - 1 : all[0].birth.pid, false});
    return all;
}

/// All processes are read once, and passed once, however many families there are.
TEST(Families, AreFoundInOnePass) {
    constexpr std::uint32_t length = 5'000;
    const auto all = chain(length);
    std::vector<std::shared_ptr<Family>> families;
    for (std::uint32_t n = 0; n < 100; n++) {
        families.push_back(std::make_shared<Family>());
        families[n]->add(all[1 + n * 10].birth);
    }
    int readings = 0;
    look_for_descendants(families, [&] {
        readings++;
        return all;
    });
    EXPECT_EQ(readings, 1);
    for (std::uint32_t n = 0; n < 100; n++)
        EXPECT_EQ(families[n]->members().size(), length - n * 10) << n;
    EXPECT_FALSE(families[3]->has(process_of(all[30].birth)));
    EXPECT_TRUE(families[3]->has(process_of(all[31].birth)));
}

/// Parents are read one after the other, so two processes may seem to be each other's parent.
TEST(Families, MayHaveARingOfParents) {
    auto all = chain(3);
    all[1].parent = all[3].birth.pid;
    const auto family = std::make_shared<Family>();
    family->add(all[2].birth);
    const std::vector<std::shared_ptr<Family>> families = {family};
    look_for_descendants(families, [&] { return all; });
    EXPECT_TRUE(family->has(process_of(all[3].birth)));
}

/// If there are too few descriptors to read processes, no member counts as ended.
TEST(Families, StayWhereProcessesCannotBeRead) {
    const auto family = std::make_shared<Family>();
    family->add(birth_of(::getpid()));
    const std::vector<std::shared_ptr<Family>> families = {family};
    look_for_descendants(families, [] { return std::vector<ProcessState>(); });
    EXPECT_EQ(family->members().size(), 1U);
}

TEST(Families, AreOfACgroupAndBelowIt) {
    Family family;
    family.add_cgroup("/slurm/job_1");
    EXPECT_TRUE(family.has(process_of({17, 1}, "/slurm/job_1")));
    EXPECT_TRUE(family.has(process_of({17, 1}, "/slurm/job_1/step_0")));
    EXPECT_FALSE(family.has(process_of({17, 1}, "/slurm/job_11")));
}

} // namespace
