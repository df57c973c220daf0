// SPDX-License-Identifier: MIT OR GPL-2.0
// Requests are carried out wholly or not at all, whichever access fails.
#include "files.hpp"
#include "model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace core {
namespace {

struct TriedRequest {
    std::string file;
    std::string text;
    std::string workload = "three-tasks";
    /// The request that undoes this request; empty if nothing has to be undone.
    std::string undo_file = "";
    std::string undo_text = "";
};

/// Requests that succeed on each board that has their file.
const std::vector<TriedRequest> requests{
    {"translate", "0:2 0x100000000"},
    {"disable_channel", "0:2 0:3", "three-tasks", "enable_channel", "0:2 0:3"},
    {"enable_channel", "0:2"},
    {"preempt_tsg", "0:1"},
    {"switch_to_tsg", "0:1", "three-tasks", "resubmit_runlist", "0"},
    {"set_timeslice", "0:1 4000", "three-tasks", "set_timeslice", "0:1 1998.848"},
    {"preempt_runlist", "0"},
    {"resubmit_runlist", "0"},
    {"scheduling", "0 off", "three-tasks", "scheduling", "0 on"},
    {"preemption_mode", "0:2 wfi", "preemption", "preemption_mode", "0:2 cta"},
};

/// Errors that a request may return when the hardware fails.
const std::set<int> allowed{-EIO,    -ENODEV, -EBUSY,  -EOPNOTSUPP, -EFAULT,  -EINTR,
                            -ENOMEM, -EAGAIN, -EINVAL, -ETIMEDOUT,  -ENOEXEC, -ENODATA};

class Controls : public testing::TestWithParam<std::string> {
  protected:
    Controls() : machine_(GetParam(), "three-tasks") {
        EXPECT_EQ(machine_.probe(), 0);
        files_ = files(machine_);
        in_use_ = shim.in_use;
    }
    ~Controls() override { RecordProperty("points", std::to_string(points_)); }

    void restart(const TriedRequest &request) {
        machine_.fault("none");
        machine_.restart(request.workload);
        machine_.model().advance(5000 * nvmodel::ns_per_us);
        machine_.errors.clear();
    }

    [[nodiscard]] const File *find(const std::string &name) const {
        const auto found = std::ranges::find(files_, name, &File::name);
        return found == files_.end() ? nullptr : &*found;
    }

    /// Returns the parts of the files that requests change and that the passing of time does not
    /// change.
    std::string state() {
        std::string all = read(machine_, *find("scheduling")).text;
        std::istringstream list(read(machine_, *find("runlist0")).text);
        for (std::string line; std::getline(list, line);)
            for (const char *key : {"Runlist", "Entries:", "Address:", "Aperture:", "TSG Entry",
                                    "Timeslice", "Channel Info", "Enabled:", "Preempt"})
                if (line.find(key) != std::string::npos)
                    all += line + "\n";
        return all;
    }

    /// Retires all override lists. Returns a complaint if memory is lost or the lock is held.
    std::string clean_up() {
        machine_.retire();
        if (shim.in_use != in_use_)
            return "memory is lost";
        return machine_.gpu()->lock.held ? "the lock is held" : "";
    }

    /// Returns true if the log has a failed restore. Other errors in the log are about requests
    /// that failed, or about a register that changed.
    [[nodiscard]] bool confessed() const {
        return std::ranges::any_of(machine_.errors, [](const std::string &line) {
            return !line.starts_with("cannot ") && !line.starts_with("SCHED_DISABLE");
        });
    }

    Model machine_;
    std::vector<File> files_;
    std::uint64_t in_use_ = 0;
    std::uint64_t points_ = 0; // failures that were tried
};

TEST_P(Controls, AreCarriedOut) {
    for (const TriedRequest &request : requests) {
        const File *const file = find(request.file);
        if (file == nullptr)
            continue;
        restart(request);
        EXPECT_EQ(Open(machine_, *file).write(request.text).error, 0) << request.file;
        EXPECT_EQ(clean_up(), "") << request.file;
    }
    EXPECT_TRUE(machine_.model().violations().records().empty());
}

TEST_P(Controls, AreUndoneWithTheirLease) {
    for (const TriedRequest &request : requests) {
        const File *const file = find(request.file);
        if (file == nullptr || !file->control->leases)
            continue;
        restart(request);
        const std::string before = state();
        {
            Open open(machine_, *file);
            ASSERT_EQ(open.write("lease " + request.text).error, 0) << request.file;
            if (request.file != "enable_channel") {
                EXPECT_NE(state(), before) << request.file;
            }
        }
        EXPECT_EQ(state(), before) << request.file;
        EXPECT_EQ(shim.in_use, in_use_) << request.file;
    }
}

/// Each access fails in turn, either alone or with all later accesses.
TEST_P(Controls, AreWholeOrNothing) {
    const std::uint64_t step = std::getenv("NVDEBUG_LONG") ? 1 : 7;
    for (const TriedRequest &request : requests) {
        const File *const file = find(request.file);
        if (file == nullptr)
            continue;
        restart(request);
        const std::string before = state();
        machine_.fault("none");
        Open(machine_, *file).write(request.text);
        const std::uint64_t usual = machine_.model().faults().accesses();
        for (const std::string fault : {"wrong-after % 0xbadf1100", "all-ones-after %"})
            for (std::uint64_t n = 0; n <= usual; n += step) {
                std::string words = fault;
                words.replace(words.find('%'), 1, std::to_string(n));
                ASSERT_EQ(clean_up(), "");
                if (state() != before)
                    restart(request);
                machine_.errors.clear();
                machine_.fault("none");
                machine_.fault(words);
                points_++;
                const int error = Open(machine_, *file).write(request.text).error;
                ASSERT_TRUE(!error || allowed.contains(error))
                    << request.file << ", " << words << ": " << error;
                machine_.fault("none");
                if (error && fault.starts_with("wrong") && !confessed()) {
                    ASSERT_EQ(state(), before) << request.file << ", " << words << ": " << error;
                }
            }
        EXPECT_EQ(clean_up(), "") << request.file;
    }
}

/// With nonsense in memory a request may fail, but then it has changed nothing. The changes of a
/// request that succeeds can be undone once the memory is good again.
TEST_P(Controls, CanBeUndoneAfterNonsenseInMemory) {
    const unsigned seeds = std::getenv("NVDEBUG_LONG") ? 200 : 5;
    for (const TriedRequest &request : requests) {
        const File *const file = find(request.file);
        if (file == nullptr)
            continue;
        for (unsigned seed = 1; seed <= seeds; seed++) {
            restart(request);
            const std::string good = state();
            machine_.model().corrupt(seed, 8);
            const std::string before = state();
            points_++;
            const int error = Open(machine_, *file).write(request.text).error;
            ASSERT_TRUE(!error || allowed.contains(error))
                << request.file << ", seed " << seed << ": " << error;
            if (error) {
                ASSERT_EQ(state(), before) << request.file << ", seed " << seed;
            }
            machine_.model().undo_corruption();
            if (!request.undo_file.empty())
                Open(machine_, *find(request.undo_file)).write(request.undo_text);
            ASSERT_EQ(state(), good) << request.file << ", seed " << seed;
            ASSERT_EQ(clean_up(), "") << request.file << ", seed " << seed;
        }
    }
}

/// A request changes nothing if one of its allocations fails.
TEST_P(Controls, ChangeNothingIfAnAllocationFails) {
    for (const TriedRequest &request : requests) {
        const File *const file = find(request.file);
        if (file == nullptr)
            continue;
        restart(request);
        const std::string before = state();
        for (std::uint64_t n = 1;; n++) {
            shim.asked = 0;
            shim.refuse = n;
            const int error = Open(machine_, *file).write(request.text).error;
            shim.refuse = 0;
            if (shim.asked < n)
                break;
            points_++;
            ASSERT_EQ(error, -ENOMEM) << request.file << ", " << n;
            ASSERT_EQ(state(), before) << request.file << ", " << n;
        }
        EXPECT_EQ(clean_up(), "") << request.file;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Controls, testing::ValuesIn(all_boards()), [](const auto &board) {
    std::string name = board.param;
    std::erase(name, '-');
    return name;
});

} // namespace
} // namespace core
