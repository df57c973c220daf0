// SPDX-License-Identifier: MIT OR GPL-2.0
// Each access of each file fails in turn, and each allocation is refused in turn. The result is an
// error or a whole text, and no memory is lost.
#include "files.hpp"
#include "model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace core {
namespace {

/// Returns all faults under `make check-all`, and else the first ones.
template <typename T>
std::vector<T> some(std::vector<T> all, std::size_t first = 2) {
    if (std::getenv("NVDEBUG_LONG") == nullptr)
        all.resize(first);
    return all;
}

/// The ways in which an access fails, as faults of the model: the n-th access alone, or all
/// accesses from it on.
const auto faults = some<std::string>(
    {"all-ones-after %", "wrong-after % 0xbadf1100", "all-ones-after % 1", "wrong-after % 0"});
/// The errors with which a read of memory fails as a whole.
const auto errors = some<int>({-EIO, -ENODEV, -EFAULT, -EOPNOTSUPP, -EBUSY, -EINTR});

/// The errors that opening a file may return.
const std::set<int> allowed_errors{-EIO,    -ENODEV, -EBUSY,  -EOPNOTSUPP,
                                   -EFAULT, -EINTR,  -ENOMEM, -EAGAIN};

/// Each case is a board and a workload.
using On = std::tuple<std::string, std::string>;

class Failures : public testing::TestWithParam<On> {
  protected:
    Failures() : machine_(std::get<0>(GetParam()), std::get<1>(GetParam())) {
        EXPECT_EQ(machine_.probe(), 0);
        machine_.model().advance(5000 * nvmodel::ns_per_us);
        EXPECT_TRUE(machine_.errors.empty() && machine_.warnings.empty());
        in_use_ = shim.in_use;
        for (const File &file : files(machine_))
            if (file.view != nullptr)
                files_.push_back(file);
    }
    ~Failures() override {
        EXPECT_GT(points_, 0U);
        RecordProperty("points", std::to_string(points_));
    }

    /// Returns how many accesses reading the file takes.
    std::uint64_t accesses(const File &file) {
        machine_.fault("none");
        EXPECT_EQ(check(file), "");
        return machine_.model().faults().accesses();
    }

    /// Reads the file, and returns what is wrong with its text, or nothing.
    std::string check(const File &file) {
        points_++;
        const Text got = read(machine_, file);
        error_ = got.error;
        if (shim.in_use != in_use_)
            return "memory is lost";
        // Reading leaves no line in the log, however often it fails.
        if (!machine_.errors.empty() || !machine_.warnings.empty() || !machine_.done.empty())
            return "a line in the log";
        if (got.error && !allowed_errors.contains(got.error))
            return "error " + std::to_string(got.error);
        if (!got.error && (got.text.empty() || got.text.back() != '\n'))
            return "half a text";
        return "";
    }

    Model machine_;
    std::vector<File> files_;
    std::uint64_t in_use_ = 0;
    std::uint64_t points_ = 0; // reads that were tried
    int error_ = 0;            // of the last read
};

TEST_P(Failures, FaultyAccessesGiveAnErrorOrAWholeText) {
    for (const File &file : files_) {
        const std::uint64_t usual = accesses(file);
        for (const std::string &fault : faults)
            for (std::uint64_t n = 0; n <= usual; n++) {
                std::string words = fault;
                words.replace(words.find('%'), 1, std::to_string(n));
                machine_.fault("none");
                machine_.fault(words);
                ASSERT_EQ(check(file), "") << file.name << ", " << words;
                // A list that the driver moves is copied three times at most.
                ASSERT_LE(machine_.model().faults().accesses(), 4 * usual + 100)
                    << file.name << ", " << words;
            }
    }
}

TEST_P(Failures, FaultyMemoryReadsGiveAnErrorOrAWholeText) {
    for (const File &file : files_)
        for (const int error : errors) {
            machine_.refuse_with = error;
            do {
                machine_.refuse++;
                machine_.requests = 0;
                ASSERT_EQ(check(file), "") << file.name << ", " << machine_.refuse << ", " << error;
                if (nvdebug_mem_error_is_fatal(error) && machine_.requests >= machine_.refuse) {
                    ASSERT_EQ(error_, error) << file.name << ", " << machine_.refuse;
                }
            } while (machine_.requests >= machine_.refuse);
            machine_.refuse = 0;
        }
}

TEST_P(Failures, RefusedAllocationsGiveNoMemory) {
    for (const File &file : files_) {
        do {
            shim.refuse++;
            shim.asked = 0;
            const Text got = read(machine_, file);
            points_++;
            ASSERT_EQ(shim.in_use, in_use_) << file.name << ", " << shim.refuse;
            if (shim.asked >= shim.refuse) {
                ASSERT_EQ(got.error, -ENOMEM) << file.name << ", " << shim.refuse;
            }
        } while (shim.asked >= shim.refuse);
        shim.refuse = 0;
    }
}

/// A fatal signal ends reading, at the latest before the next read of memory.
TEST_P(Failures, FatalSignalEndsReading) {
    shim.killed = true;
    for (const File &file : files_) {
        const int wanted = file.view->live ? -EINTR : 0;
        EXPECT_EQ(read(machine_, file).error, wanted) << file.name;
    }
    shim.killed = false;
    points_++;
}

TEST_P(Failures, CorruptMemoryGivesAnErrorOrAWholeText) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        machine_.model().corrupt(seed, 64);
        for (const File &file : files_)
            ASSERT_EQ(check(file), "") << file.name << ", seed " << seed;
        machine_.model().undo_corruption();
    }
}

/// The GPU fails during the probe. It then has only files with facts that could be read.
TEST_P(Failures, FaultyProbeLosesNoMemory) {
    const std::uint64_t before = shim.in_use;
    std::uint64_t usual = 0;
    Model machine(std::get<0>(GetParam()), std::get<1>(GetParam()));
    for (const std::string &fault : faults)
        for (std::uint64_t n = 0; n <= usual; n++) {
            std::string words = fault;
            words.replace(words.find('%'), 1, std::to_string(n));
            machine.fault("none");
            if (usual)
                machine.fault(words);
            machine.probe();
            usual = std::max(usual, machine.model().faults().accesses());
            machine.fault("none");
            for (const File &file : files(machine))
                if (file.view != nullptr && n % 16 == 0)
                    static_cast<void>(read(machine, file));
            machine.forget();
            ASSERT_EQ(shim.in_use, before) << words;
            points_++;
        }
}

INSTANTIATE_TEST_SUITE_P(All, Failures,
                         testing::Combine(testing::ValuesIn(all_boards()),
                                          testing::ValuesIn(some<std::string>({"mixed", "fig6"},
                                                                              1))),
                         [](const auto &on) {
                             std::string name = std::get<0>(on.param) + "_" + std::get<1>(on.param);
                             std::erase(name, '-');
                             return name;
                         });

} // namespace
} // namespace core
