// SPDX-License-Identifier: MIT OR GPL-2.0
// What holds of every request: what it refuses, that it answers with the error of the access that
// failed, and that it acts on no list but the one that it has read.
#include "bench.hpp"
#include "meddled.hpp"

extern "C" {
#include "chips/chips.h"
}

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace core {
namespace {

struct Request {
    std::string file;
    std::string text;
};

/// Each is fine in three-tasks.
const std::vector<Request> fine{{"translate", "0:2 0x100000000"}, {"disable_channel", "0:2 0:3"},
                                {"enable_channel", "0:2"},        {"preempt_tsg", "0:1"},
                                {"switch_to_tsg", "0:1"},         {"set_timeslice", "0:1 4000"},
                                {"preempt_runlist", "0"},         {"resubmit_runlist", "0"},
                                {"scheduling", "0 off"},          {"preemption_mode", "0:2 wfi"}};

class Requests : public testing::TestWithParam<std::string> {
  protected:
    Requests() : machine(GetParam(), "three-tasks") {
        EXPECT_EQ(machine.probe(), 0);
        all = files(machine);
        begin();
        in_use = shim.in_use;
    }
    ~Requests() override {
        shim.killed = false;
        machine.retire();
        EXPECT_EQ(shim.in_use, in_use);
    }

    /// From the beginning, with nothing that meddles.
    void begin() {
        leave_alone();
        machine.retire();
        machine.restart("three-tasks");
        machine.model().advance(5000 * nvmodel::ns_per_us);
        machine.written.clear();
        machine.errors.clear();
        machine.done.clear();
    }
    void leave_alone() {
        machine.on_begin = nullptr;
        machine.on_read = nullptr;
        machine.on_write = nullptr;
        machine.on_memory_read = nullptr;
        machine.on_memory_write = nullptr;
        machine.refuse = 0;
        machine.asleep = false;
        shim.killed = false;
    }
    [[nodiscard]] const File *find(const std::string &name) const {
        const auto found = std::ranges::find(all, name, &File::name);
        return found == all.end() ? nullptr : &*found;
    }
    int write(const std::string &name, const std::string &text) {
        return Open(machine, *find(name)).write(text).error;
    }
    /// `act` on each of those that this board has.
    template <typename Act>
    void of_each(Act act) {
        for (const Request &request : fine)
            if (find(request.file) != nullptr)
                act(request);
    }

    Meddled machine;
    std::vector<File> all;
    u64 in_use = 0;
};

// --- what is no request ---

TEST_P(Requests, WithoutAllOfItsWords) {
    const std::map<std::string, std::vector<std::pair<std::string, int>>> wrong{
        {"preempt_tsg",
         {{"", -EINVAL},
          {"0:", -EINVAL},
          {"0:77", -EINVAL},
          {"99:1", -EINVAL},
          {"0:1 x", -EINVAL},
          {"0:5000", -ERANGE},
          {"5000", -ERANGE},
          {"77", -EINVAL}}},
        {"switch_to_tsg",
         {{"", -EINVAL},
          {"0:", -EINVAL},
          {"0:77", -EINVAL},
          {"99:1", -EINVAL},
          {"0:1 0:2", -EINVAL},
          {"0:5000", -ERANGE},
          {"5000", -ERANGE},
          {"77", -EINVAL}}},
        {"set_timeslice",
         {{"", -EINVAL},
          {"0:1", -EINVAL},
          {"0: 4000", -EINVAL},
          {"0:77 4000", -EINVAL},
          {"99:1 4000", -EINVAL},
          {"0:1 x", -EINVAL},
          {"0:1 4000 x", -EINVAL},
          {"0:1 1.023", -ERANGE},
          {"0:1 0", -ERANGE},
          {"0:1 8556380.161", -ERANGE},
          {"0:5000 4000", -ERANGE}}},
        {"preempt_runlist", {{"", -EINVAL}, {"x", -EINVAL}, {"99", -EINVAL}, {"0:0", -EINVAL}}},
        {"resubmit_runlist", {{"", -EINVAL}, {"x", -EINVAL}, {"99", -EINVAL}, {"0:0", -EINVAL}}},
        {"scheduling",
         {{"", -EINVAL},
          {"0", -EINVAL},
          {"0 ", -EINVAL},
          {"0 maybe", -EINVAL},
          {"99 off", -EINVAL},
          {"0:0 off", -EINVAL},
          {"0 off 1", -EINVAL}}},
        {"preemption_mode",
         {{"", -EINVAL},
          {"0:2", -EINVAL},
          {"0: wfi", -EINVAL},
          {"0:9 wfi", -EINVAL},
          {"0:2 wfi x", -EINVAL},
          {"0:5000 wfi", -ERANGE},
          {"100000000000000000000 wfi", -ERANGE}}},
        {"disable_channel", {{"", -EINVAL}, {"0:", -EINVAL}, {"x", -EINVAL}, {"0:5000", -ERANGE}}},
    };
    for (const auto &[name, texts] : wrong)
        for (const auto &[text, error] : texts)
            for (const std::string lease : {"", "lease "}) {
                if (find(name) == nullptr)
                    continue;
                EXPECT_EQ(write(name, lease + text),
                          lease.empty() || find(name)->control->leases ? error : -EINVAL)
                    << name << " \"" << lease << text << '"';
                EXPECT_TRUE(machine.written.empty()) << name << " \"" << lease << text << '"';
                EXPECT_TRUE(machine.done.empty()) << name << " \"" << lease << text << '"';
            }
}

TEST_P(Requests, OfTooMany) {
    for (const auto &[name, each] :
         {std::pair("preempt_tsg", "0:1 "), std::pair("preempt_runlist", "0 "),
          std::pair("resubmit_runlist", "0 "), std::pair("scheduling", "0 on "),
          std::pair("disable_channel", "0:2 ")}) {
        std::string text;
        for (int i = 0; i < 256; i++)
            text += each;
        EXPECT_EQ(write(name, text), 0) << name;
        machine.written.clear();
        EXPECT_EQ(write(name, text + each), -E2BIG) << name;
        EXPECT_TRUE(machine.written.empty()) << name;
    }
}

// --- what happens to the GPU ---

TEST_P(Requests, OfAGpuThatSleeps) {
    of_each([&](const Request &request) {
        machine.asleep = true;
        EXPECT_EQ(write(request.file, request.text), -ENODEV) << request.file;
        machine.asleep = false;
        EXPECT_TRUE(machine.written.empty()) << request.file;
        EXPECT_TRUE(machine.done.empty()) << request.file;
    });
}

TEST_P(Requests, OfWhoIsKilledAtTheBeginning) {
    of_each([&](const Request &request) {
        begin();
        machine.on_begin = [] { shim.killed = true; };
        EXPECT_EQ(write(request.file, request.text), -EINTR) << request.file;
        leave_alone();
        EXPECT_TRUE(machine.written.empty()) << request.file;
        EXPECT_TRUE(machine.done.empty()) << request.file;
    });
}

/// One read of a register gives an error: that is the answer, unless it was made again.
TEST_P(Requests, AnswerWithTheErrorOfARegister) {
    of_each([&](const Request &request) {
        unsigned failed = 0;
        for (u64 n = 0, reads = n + 1; n < reads; n++) {
            begin();
            reads = 0;
            machine.on_read = [&](u32) {
                return reads++ == n ? std::optional(0xbadf1100) : std::nullopt;
            };
            const int error = write(request.file, request.text);
            leave_alone();
            EXPECT_TRUE(!error || error == -EIO) << request.file << ", read " << n << ": " << error;
            EXPECT_EQ(machine.done.empty(), error != 0) << request.file << ", read " << n;
            failed += error != 0;
        }
        EXPECT_GT(failed, 0U) << request.file;
    });
}

/// The same of a call that reads or writes memory.
TEST_P(Requests, AnswerWithTheErrorOfMemory) {
    of_each([&](const Request &request) {
        for (const int wanted : {-EIO, -EOPNOTSUPP, -ENODEV})
            for (u64 n = 1;; n++) {
                begin();
                machine.requests = 0;
                machine.refuse_with = wanted;
                machine.refuse = n;
                const int error = write(request.file, request.text);
                leave_alone();
                if (machine.requests < n)
                    break;
                EXPECT_EQ(error, wanted) << request.file << ", call " << n;
                EXPECT_TRUE(machine.done.empty()) << request.file << ", call " << n;
            }
    });
}

/// A lease that is refused leaves nothing behind.
TEST_P(Requests, WhoseLeaseIsRefusedKeepNothing) {
    of_each([&](const Request &request) {
        if (!find(request.file)->control->leases)
            return;
        for (u64 n = 0; n < 40; n += 3) {
            begin();
            u64 reads = 0;
            machine.on_read = [&](u32) {
                return reads++ >= n ? std::optional(0xbadf1100) : std::nullopt;
            };
            Open open(machine, *find(request.file));
            const int error = open.write("lease " + request.text).error;
            leave_alone();
            machine.retire();
            if (error) {
                EXPECT_EQ(shim.in_use, in_use) << request.file << ", read " << n;
            }
        }
    });
}

// --- lists that move ---

/// The driver's list, in two places with the same words: the registers say in which one it is.
class Moving : public Requests {
  protected:
    Moving() {
        const nvdebug_runlist *const list = &machine.gpu()->topology.runlist[0];
        const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
        EXPECT_EQ(machine.locked([&] { return ops->location(machine.gpu(), list, &loc); }), 0);
        reg = ops->registers(list);
        bytes = 4ULL * loc.entries * ops->entry_words;
        const bool in_pages = GetParam() == "gtx1080ti" || GetParam() == "titan-v";
        shown[0] = machine.peek(reg);
        shown[1] = shown[0] + (in_pages ? distance >> 12 : distance);
    }
    /// `after_copy` is asked at each look at the registers: how many copies have been begun, and is
    /// it the first look since? It says in which place the list is.
    template <typename Look>
    void watch(Look look) {
        copies = words = 0;
        place = false;
        first_look = false;
        machine.on_read = [this, look](u32 offset) -> std::optional<u32> {
            if (offset != reg)
                return std::nullopt;
            place = look(copies, std::exchange(first_look, false));
            return shown[place];
        };
        machine.on_memory_read = [this](u64 address) -> std::optional<u32> {
            const bool there = address - loc.addr - distance < bytes;
            if (address == loc.addr || address == loc.addr + distance) {
                copies++;
                first_look = true;
            }
            return there ? machine.Model::memory_read(loc.aperture, address - distance)
                         : std::nullopt;
        };
        machine.on_memory_write = [this](u64, u32) { return words++, false; };
    }

    static constexpr u32 distance = 0x10000;
    nvdebug_runlist_location loc{};
    u64 bytes = 0;
    u32 reg = 0;
    std::array<u32, 2> shown{};
    bool place = false, first_look = false;
    int copies = 0; // that were begun
    int words = 0;  // that were written
};

/// After each of three copies it is elsewhere, and then it is back: there is no telling what was
/// copied.
TEST_P(Moving, WhileItIsCopied) {
    std::vector<std::string> copying{"translate", "preempt_tsg", "switch_to_tsg", "set_timeslice",
                                     "preemption_mode"};
    if (!machine.gpu()->chip->channel->per_runlist)
        copying.insert(copying.end(), {"disable_channel", "enable_channel"});
    of_each([&](const Request &request) {
        int refused = 0;
        for (const int before : {0, 1, 2}) {
            begin();
            watch([=, this](int begun, bool first) {
                if (begun <= before || (begun == before + 3 && !first))
                    return false;
                return begun <= before + 3 && first ? !place : place;
            });
            const int error = write(request.file, request.text);
            leave_alone();
            if (copies < before + 3)
                continue;
            refused++;
            EXPECT_EQ(error, -EBUSY) << request.file << ", after copy " << before;
            EXPECT_TRUE(machine.written.empty()) << request.file << ", after copy " << before;
            EXPECT_EQ(words, 0) << request.file << ", after copy " << before;
        }
        EXPECT_EQ(refused > 0, std::ranges::count(copying, request.file) > 0) << request.file;
    });
}

/// What was read is the driver's list no longer.
TEST_P(Moving, OnceItWasCopied) {
    for (const Request &request :
         {Request{"switch_to_tsg", "0:1"}, {"set_timeslice", "0:1 4000"}}) {
        begin();
        // one to find out whether the TSG is listed, and one of all its entries
        watch([](int begun, bool first) { return begun >= 2 && !first; });
        EXPECT_EQ(write(request.file, request.text), -EBUSY) << request.file;
        leave_alone();
        EXPECT_EQ(copies, 2) << request.file;
        EXPECT_TRUE(machine.written.empty()) << request.file;
        EXPECT_EQ(words, 0) << request.file;
        EXPECT_TRUE(machine.errors.empty()) << request.file;
    }
}

/// The header is written, and then the list is another one: its memory is somebody else's.
TEST_P(Moving, WhileItsTimesliceIsSet) {
    watch([this](int, bool) { return words > 0; });
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EBUSY);
    leave_alone();
    EXPECT_EQ(words, 1);
    EXPECT_TRUE(machine.written.empty());
    EXPECT_TRUE(machine.errors.empty());
}

/// The registers cannot be read any more: it is said that the header was not put back.
TEST_P(Moving, WhereItCannotBeSeen) {
    machine.on_read = [this](u32 offset) {
        return offset == reg && words ? std::optional(0xbadf1100) : std::nullopt;
    };
    machine.on_memory_write = [this](u64, u32) { return words++, false; };
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EIO);
    leave_alone();
    EXPECT_EQ(words, 1);
    ASSERT_EQ(machine.errors.size(), 1U);
    EXPECT_EQ(machine.errors[0], "TSG 1: failed to restore 1 timeslices (-5)\n");
}

/// A lease that ends then says so, too.
TEST_P(Moving, WhereItCannotBeSeenAtTheEndOfALease) {
    {
        Open open(machine, *find("set_timeslice"));
        ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
        machine.done.clear();
        machine.on_read = [this](u32 offset) {
            return offset == reg ? std::optional(0xbadf1100) : std::nullopt;
        };
        machine.on_memory_write = [this](u64, u32) { return words++, false; };
    }
    leave_alone();
    EXPECT_EQ(words, 0);
    ASSERT_EQ(machine.errors.size(), 1U);
    EXPECT_EQ(machine.errors[0], "TSG 1: failed to restore the timeslice (-5)\n");
    EXPECT_EQ(machine.done,
              std::vector<std::string>{"lease over: set the timeslice of 0 TSGs: (by uid 0)\n"});
}

const auto boards = testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200");

INSTANTIATE_TEST_SUITE_P(Boards, Requests, boards, name_of_board);
INSTANTIATE_TEST_SUITE_P(Boards, Moving, boards, name_of_board);

} // namespace
} // namespace core
