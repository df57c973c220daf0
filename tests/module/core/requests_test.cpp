// SPDX-License-Identifier: MIT OR GPL-2.0
// Rules for all requests: which texts are refused, and that a request fails with the error of the
// access that failed.
#include "requests.hpp"
#include "text.hpp"

extern "C" {
#include "chips/chips.h"
}

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace core {
namespace {

// --- Texts that are refused ---

TEST_P(Requests, MalformedTextsAreRefused) {
    using Texts = std::vector<std::pair<std::string, int>>;
    const Texts of_runlists{{"", -EINVAL},
                            {"x", -EINVAL},
                            {"0x", -EINVAL},
                            {"0 x", -EINVAL},
                            {"99", -EINVAL},
                            {"0 99", -EINVAL},
                            {"0:", -EINVAL},
                            {"0:0", -EINVAL},
                            {"-1", -EINVAL},
                            {"all", -EINVAL},
                            {"*", -EINVAL},
                            {"#", -EINVAL},
                            {"100000000000000000000", -ERANGE}};
    const std::map<std::string, Texts> wrong{
        {"preempt_tsg",
         {{"", -EINVAL},
          {"0:", -EINVAL},
          {"0:77", -EINVAL},
          {"99:1", -EINVAL},
          {"0:1 x", -EINVAL},
          {"x", -EINVAL},
          {"x 0:1", -EINVAL},
          {"0:1x", -EINVAL},
          {"0:1,0:1", -EINVAL},
          {"0:1:", -EINVAL},
          {":0", -EINVAL},
          {"-1", -EINVAL},
          {"1:1", -EINVAL},
          {"0:1 0:77", -EINVAL},
          {"0:1 99:0", -EINVAL},
          {"0:1 0:4294967296", -ERANGE},
          {"100000000000000000000", -ERANGE},
          {"0:5000", -ERANGE},
          {"5000", -ERANGE},
          {"77", -EINVAL}}},
        {"switch_to_tsg",
         {{"", -EINVAL},
          {"0:", -EINVAL},
          {"0:77", -EINVAL},
          {"99:1", -EINVAL},
          {"0:1 0:2", -EINVAL},
          {"x", -EINVAL},
          {"0:1x", -EINVAL},
          {"0:1 x", -EINVAL},
          {"1:1", -EINVAL},
          {"0:1 0:77", -EINVAL},
          {"100000000000000000000", -ERANGE},
          {"0:5000", -ERANGE},
          {"5000", -ERANGE},
          {"77", -EINVAL}}},
        {"set_timeslice",
         {{"", -EINVAL},
          {"0:1", -EINVAL},
          {"0: 4000", -EINVAL},
          {"x 4000", -EINVAL},
          {"0:77 4000", -EINVAL},
          {"99:1 4000", -EINVAL},
          {"0:1 x", -EINVAL},
          {"0:1 4000 x", -EINVAL},
          {"0:1 4000 0:1 4000", -EINVAL},
          {"0:1 4000x", -EINVAL},
          {"0:1 4000.0000", -EINVAL},
          {"0:1 4000.5x", -EINVAL},
          {"0:1 4000,5", -EINVAL},
          {"0:1 1.2.3", -EINVAL},
          {"0:1 .", -EINVAL},
          {"0:1 1e3", -EINVAL},
          {"0:1 -4000", -EINVAL},
          {"1:1 4000", -EINVAL},
          {"77 4000", -EINVAL},
          {"4000", -EINVAL},
          {"0:1 0.000", -ERANGE},
          {"0:1 8556381", -ERANGE},
          {"0:1 4294968296", -ERANGE},
          {"0:1 18446744073709552616", -ERANGE},
          {"0:1 18446744073709552.616", -ERANGE},
          {"100000000000000000000 4000", -ERANGE},
          {"0:1 1.023", -ERANGE},
          {"0:1 0", -ERANGE},
          {"0:1 8556380.161", -ERANGE},
          {"0:5000 4000", -ERANGE}}},
        {"preempt_runlist", of_runlists},
        {"resubmit_runlist", of_runlists},
        {"scheduling",
         {{"", -EINVAL},
          {"0", -EINVAL},
          {"0 ", -EINVAL},
          {"0 maybe", -EINVAL},
          {"on", -EINVAL},
          {"off 0", -EINVAL},
          {"0 OFF", -EINVAL},
          {"0 offx", -EINVAL},
          {"0off", -EINVAL},
          {"0 of", -EINVAL},
          {"0 off x", -EINVAL},
          {"0 off 0", -EINVAL},
          {"0 off on", -EINVAL},
          {"0 off 99 off", -EINVAL},
          {"0 off 100000000000000000000 off", -ERANGE},
          {"99 off", -EINVAL},
          {"0:0 off", -EINVAL},
          {"0 off 1", -EINVAL}}},
        {"preemption_mode",
         {{"", -EINVAL},
          {"0:2", -EINVAL},
          {"0: wfi", -EINVAL},
          {"0:9 wfi", -EINVAL},
          {"0:2 wfi x", -EINVAL},
          {"0:2 wfi cta", -EINVAL},
          {"0:2 wfix", -EINVAL},
          {"0:2 WFI", -EINVAL},
          {"0:2 gfxp", -EINVAL},
          {"wfi", -EINVAL},
          {"wfi 0:2", -EINVAL},
          {"99:0 wfi", -EINVAL},
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

TEST_P(Requests, MoreThan256TargetsAreRefused) {
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

/// The file shows each gate. If a request names a gate twice, the last word counts.
TEST_P(Requests, GatesAreShownInTheFile) {
    const nvdebug_topology &topology = machine.gpu()->topology;
    const u32 first = topology.runlist[0].id, last = topology.runlist[topology.runlists - 1].id;
    const auto expect_off = [&](const std::set<u32> &off) {
        std::string text = "# runlist scheduling\n";
        for (u32 i = 0; i < topology.runlists; i++) {
            const u32 id = topology.runlist[i].id;
            text += std::to_string(id) + (off.contains(id) ? " off\n" : " on\n");
        }
        EXPECT_EQ(read(machine, *find("scheduling")).text, text);
    };
    expect_off({});
    for (u32 i = 0; i < topology.runlists; i++) {
        const u32 id = topology.runlist[i].id;
        const std::string name = std::to_string(id);
        for (int again = 0; again < 2; again++) {
            EXPECT_EQ(write("scheduling", name + " off"), 0);
            expect_off({id});
        }
        EXPECT_EQ(write("scheduling", name + " on\n"), 0);
        expect_off({});
    }
    const std::string a = std::to_string(first), b = std::to_string(last);
    EXPECT_EQ(write("scheduling", a + " off\n" + hex(last) + " off\n"), 0);
    expect_off({first, last});
    EXPECT_EQ(write("scheduling", "  " + b + " on   " + a + "\non"), 0);
    expect_off({});
    EXPECT_EQ(write("scheduling", a + " off\n" + b + " off " + a + " on"), 0);
    expect_off({last});
}

// --- Events on the GPU ---

TEST_P(Requests, SleepingGpuIsAnError) {
    of_each([&](const Request &request) {
        machine.asleep = true;
        EXPECT_EQ(write(request.file, request.text), -ENODEV) << request.file;
        machine.asleep = false;
        EXPECT_TRUE(machine.written.empty()) << request.file;
        EXPECT_TRUE(machine.done.empty()) << request.file;
    });
}

TEST_P(Requests, KilledTaskChangesNothing) {
    of_each([&](const Request &request) {
        begin();
        machine.on_begin = [] { shim.killed = true; };
        EXPECT_EQ(write(request.file, request.text), -EINTR) << request.file;
        leave_alone();
        EXPECT_TRUE(machine.written.empty()) << request.file;
        EXPECT_TRUE(machine.done.empty()) << request.file;
    });
}

/// One read of a register gives an error word, and the request fails with that error.
TEST_P(Requests, FailWithTheErrorOfARegister) {
    of_each([&](const Request &request) {
        for (u64 n = 0, reads = n + 1; n < reads; n++) {
            begin();
            reads = 0;
            machine.on_read = [&](u32) {
                return reads++ == n ? std::optional(0xbadf1100) : std::nullopt;
            };
            const int error = write(request.file, request.text);
            leave_alone();
            EXPECT_EQ(error, n < reads ? -EIO : 0) << request.file << ", read " << n;
            EXPECT_EQ(machine.done.empty(), error != 0) << request.file << ", read " << n;
        }
    });
}

/// Two reads in a row give an error word while a list is submitted, so the contents of the
/// registers are unknown. Then no control works any more. Files can still be read, and leases of
/// other things end as usual.
TEST_P(Requests, AreRefusedOnceASubmitCannotBeUndone) {
    const auto *const runlist = &machine.gpu()->topology.runlist[0];
    const u32 port = machine.gpu()->chip->submit->port(runlist);
    const std::string before = read(machine, *find("scheduling")).text;
    {
        Open lease(machine, *find("scheduling"));
        ASSERT_EQ(lease.write("lease 0 off").error, 0);
        machine.written.clear();
        int wrong = 2;
        machine.on_read = [&](u32 offset) {
            return offset == port && machine.writes(port) && wrong-- > 0 ? std::optional(0xbadf1100)
                                                                         : std::nullopt;
        };
        EXPECT_EQ(write("switch_to_tsg", "0:1"), -EIO);
        leave_alone();
        ASSERT_EQ(machine.errors.size(), 1U);
        EXPECT_NE(machine.errors[0].find("reload nvdebug after the driver has submitted"),
                  std::string::npos);
        machine.written.clear();
        machine.done.clear();
        of_each([&](const Request &request) {
            const bool changes = find(request.file)->control->changes;
            EXPECT_EQ(changes, request.file != "translate");
            EXPECT_EQ(write(request.file, request.text), changes ? -ENOTRECOVERABLE : 0)
                << request.file;
            if (find(request.file)->control->leases) {
                EXPECT_EQ(write(request.file, "lease " + request.text), -ENOTRECOVERABLE)
                    << request.file;
            }
        });
        for (const File &file : all)
            if (file.view != nullptr && file.name.find("ce_for_") == std::string::npos) {
                EXPECT_EQ(read(machine, file).error, 0) << file.name;
            }
        EXPECT_TRUE(machine.written.empty());
        EXPECT_TRUE(machine.done.empty());
        EXPECT_NE(read(machine, *find("scheduling")).text, before);
    }
    EXPECT_EQ(read(machine, *find("scheduling")).text, before);
    EXPECT_EQ(machine.errors.size(), 1U);

    // The module is loaded again.
    begin();
    EXPECT_EQ(write("switch_to_tsg", "0:1"), 0);
}

/// One call that reads or writes memory fails, and the request fails with its error.
TEST_P(Requests, FailWithTheErrorOfMemory) {
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

/// A lease that is refused keeps no memory.
TEST_P(Requests, RefusedLeaseKeepsNoMemory) {
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

// --- The runlist of a request ---

TEST_P(Requests, UnlistedTsgIsAnError) {
    // Ids have 12 bits, whatever the number of channels is.
    for (const char *const text : {"0:3000", "3000", "0:4095"})
        EXPECT_EQ(write("preempt_tsg", text), -EINVAL) << text;
    EXPECT_EQ(write("preempt_tsg", "0:4096"), -ERANGE);
}

/// Most runlists are empty and take one read each. Of a list, only the words with ids are read.
TEST_P(Requests, UnlistedIdIsLookedForInEachList) {
    u64 reads = 0;
    machine.on_read = [&](u32) { return reads++, std::nullopt; };
    machine.words_read.emplace();
    EXPECT_EQ(write("preempt_tsg", "77"), -EINVAL);
    EXPECT_LE(reads, machine.gpu()->topology.runlists + 16);
    // The list has three TSGs of two channels. The first of an entry's two words is read, or the
    // first and the third of its four words.
    EXPECT_EQ(machine.words_read->words, GetParam() == "gtx1080ti" ? 9U : 18U);
    EXPECT_EQ(machine.words_read->again, 0U);
    machine.words_read.reset();
}

/// A runlist that did not answer the probe is asked again.
TEST_P(Requests, RunlistThatAnswersLateIsUsable) {
    const auto *const block = machine.gpu()->chip->runlist->block;
    if (block == nullptr)
        return;
    const auto config_of = [&](std::size_t n) {
        return machine.gpu()->topology.runlist[n].base + block->channel_config;
    };
    const u32 graphics = config_of(0), other = config_of(1);
    machine.on_read = [=](u32 offset) {
        return offset == graphics || offset == other ? std::optional(0xbadf1100) : std::nullopt;
    };
    machine.forget();
    ASSERT_EQ(machine.probe(), 0);
    EXPECT_EQ(write("translate", "0:2 0x1000"), -EIO);
    EXPECT_EQ(write("disable_channel", "0:2"), -EIO);
    EXPECT_EQ(write("disable_channel", "2"), -EIO);
    EXPECT_EQ(write("preemption_mode", "0:2 wfi"), -EIO);
    machine.on_read = [=](u32 offset) {
        return offset == other ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(write("translate", "0:2 0x1000"), 0);
    EXPECT_EQ(write("preemption_mode", "0:2 wfi"), 0);
    // The channel may also be of the other runlist.
    EXPECT_EQ(write("disable_channel", "2"), -EIO);
    EXPECT_TRUE(machine.written.empty());
    leave_alone();
    EXPECT_EQ(write("disable_channel", "2"), 0);
}

/// Other runlists may have fewer channels than the id's own runlist.
TEST_P(Requests, IdMayBeTooLargeForOtherRunlists) {
    const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
    if (ops->block == nullptr || ops->channels)
        return;
    const u32 config = machine.gpu()->topology.runlist[0].base + ops->block->channel_config;
    const u32 other = machine.gpu()->topology.runlist[1].base + ops->block->channel_config;
    machine.on_read = [=, this](u32 offset) {
        return offset == other ? std::optional((machine.peek(config) & ~0xfU) | 1) : std::nullopt;
    };
    machine.forget();
    ASSERT_EQ(machine.probe(), 0);
    EXPECT_EQ(machine.gpu()->topology.runlist[1].channels, 2U);
    EXPECT_EQ(write("disable_channel", "2"), 0);
    EXPECT_EQ(
        write("disable_channel", std::to_string(machine.gpu()->topology.runlist[1].id) + ":2"),
        -ERANGE);
}

/// The list's aperture has no memory.
TEST_P(Requests, ListWithoutMemoryIsAnError) {
    const u32 reg = machine.gpu()->chip->runlist->registers(&machine.gpu()->topology.runlist[0]);
    const bool in_pages = GetParam() == "gtx1080ti" || GetParam() == "titan-v";
    machine.on_read = [=, this](u32 offset) {
        return offset == reg ? std::optional((machine.peek(reg) & ~(in_pages ? 3U << 28 : 3U)) |
                                             (in_pages ? 1U << 28 : 1U))
                             : std::nullopt;
    };
    for (const char *const name : {"preempt_tsg", "switch_to_tsg"})
        EXPECT_EQ(write(name, "0:1"), -EIO) << name;
    EXPECT_EQ(write("set_timeslice", "0:1 4000"), -EIO);
    const Text contexts = read(machine, *find("contexts"));
    EXPECT_EQ(contexts.error, 0);
    EXPECT_NE(contexts.text.find("\n0 - - - - - - - unreadable\n"), std::string::npos)
        << contexts.text;
    const Text shown = read(machine, *find("runlist0_brief"));
    EXPECT_EQ(shown.error, 0);
    EXPECT_NE(shown.text.find(" invalid |"), std::string::npos) << shown.text;
    EXPECT_EQ(shown.text.find("TSG Entry"), std::string::npos) << shown.text;
    EXPECT_TRUE(machine.written.empty());
}

// --- lists in system memory ---

/// The list's memory may be freed once it is not current, so the registers are read again under the
/// lock.
TEST_P(Requests, ListInSystemMemoryIsReadWhereItIsNow) {
    machine.restart("sysmem");
    machine.model().advance(5000 * nvmodel::ns_per_us);
    const nvdebug_runlist *const list = &machine.gpu()->topology.runlist[0];
    const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
    nvdebug_runlist_location loc{};
    ASSERT_EQ(machine.locked([&] { return ops->location(machine.gpu(), list, &loc); }), 0);
    const u32 reg = ops->registers(list), shown = machine.peek(reg);
    const bool in_pages = GetParam() == "gtx1080ti" || GetParam() == "titan-v";
    const u64 bytes = 4ULL * loc.entries * ops->entry_words;
    const std::string usual = read(machine, *find("runlist0_brief")).text;
    int looks = 0;
    bool read_old = false;
    machine.on_read = [&](u32 offset) {
        return offset == reg && looks++ ? std::optional(shown + (in_pages ? 16 : 0x10000))
                                        : std::nullopt;
    };
    machine.on_memory_read = [&](u64 address) -> std::optional<u32> {
        read_old |= address - loc.addr < bytes;
        EXPECT_TRUE(machine.gpu()->lock.held);
        return address - loc.addr - 0x10000 < bytes
                   ? machine.Model::memory_read(loc.aperture, address - 0x10000)
                   : std::nullopt;
    };
    EXPECT_EQ(read(machine, *find("runlist0_brief")).error, 0);
    EXPECT_FALSE(read_old);
    EXPECT_GT(looks, 2);
}

TEST_P(Requests, KilledTaskEndsWithAListInSystemMemory) {
    of_each([&](const Request &request) {
        for (u64 n = 0, reads = n + 1; n < reads; n++) {
            begin();
            machine.restart("sysmem");
            machine.model().advance(5000 * nvmodel::ns_per_us);
            reads = 0;
            machine.on_read = [&](u32) {
                shim.killed = shim.killed || reads == n;
                return reads++, std::nullopt;
            };
            const int error = write(request.file, request.text);
            leave_alone();
            EXPECT_TRUE(!error || error == -EINTR)
                << request.file << ", read " << n << ": " << error;
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Boards, Requests,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
