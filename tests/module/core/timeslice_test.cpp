// SPDX-License-Identifier: MIT OR GPL-2.0
// The answers, the lines in the log and the writes of set_timeslice. lease_timeslice_test.cpp has
// its leases.
#include "bench.hpp"
#include "text.hpp"
#include "three_tasks.hpp"

extern "C" {
#include "chips/chips.h"
}

#include <array>
#include <vector>

namespace core {
namespace {

class Timeslice : public testing::TestWithParam<std::string> {
  protected:
    Timeslice() : machine(GetParam(), "three-tasks") {
        EXPECT_EQ(machine.probe(), 0);
        all = files(machine);
        begin("three-tasks");
    }

    void begin(const std::string &workload) {
        machine.retire();
        machine.restart(workload);
        machine.model().advance(5000 * nvmodel::ns_per_us);
        const nvdebug_runlist *const list = &machine.gpu()->topology.runlist[0];
        const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
        EXPECT_EQ(machine.locked([&] { return ops->location(machine.gpu(), list, &loc); }), 0);
        length = ops->registers(list) + ops->length_offset;
        entry_bytes = 4 * ops->entry_words;
    }
    [[nodiscard]] const File &file(const std::string &name) {
        return *std::ranges::find(all, name, &File::name);
    }
    Text set(const std::string &text) { return Open(machine, file("set_timeslice")).write(text); }
    /// Returns the timeslices in the headers of a TSG, as the list has them.
    std::vector<std::string> shown(unsigned tsg) {
        std::vector<std::string> found;
        for (Box &box : of_kind(boxes(read(machine, file("runlist0_brief")).text), "TSG Entry"))
            if (box.number == tsg)
                found.push_back(box.fields["Timeslice (us)"]);
        return found;
    }
    struct Header {
        u32 runlist;
        unsigned tsg;
        Fields fields;
        std::vector<unsigned> channels;
        bool operator==(const Header &) const = default;
    };
    /// Returns all headers of the GPU in their order.
    std::vector<Header> headers() {
        std::vector<Header> found;
        for (u32 i = 0; i < machine.gpu()->topology.runlists; i++) {
            const u32 id = machine.gpu()->topology.runlist[i].id;
            const std::string name = "runlist" + std::to_string(id) + "_brief";
            for (const Box &box : entries(read(machine, file(name)).text)) {
                if (box.kind == "TSG Entry")
                    found.push_back({id, *box.number, box.fields, {}});
                else if (box.kind == "Channel Info" && box.indent != 0)
                    found.back().channels.push_back(*box.number);
            }
        }
        return found;
    }
    [[nodiscard]] u32 word(u64 address) {
        return *machine.Model::memory_read(loc.aperture, address);
    }
    /// Overwrites the list with `count` headers of the second TSG.
    void fill_with_headers(u32 count) {
        std::vector<u32> header;
        for (u64 at = 0; at < entry_bytes; at += 4)
            header.push_back(word(loc.addr + 3 * entry_bytes + at));
        for (u32 i = 0; i < count; i++)
            for (u64 at = 0; at < entry_bytes; at += 4)
                machine.Model::memory_write(loc.aperture, loc.addr + i * entry_bytes + at,
                                            header[at / 4]);
        machine.on_read = [this, count](u32 offset) {
            return offset == length ? std::optional((machine.peek(offset) & ~0xffffU) | count)
                                    : std::nullopt;
        };
    }

    Meddled machine;
    std::vector<File> all;
    nvdebug_runlist_location loc{};
    u32 length = 0;
    u64 entry_bytes = 0;
};

TEST_P(Timeslice, IsAnsweredAndLogged) {
    EXPECT_EQ(set("0:1 1500").text, "runlist: 0\ntsg: 1\nasked_us: 1500.000\nold_us: 1998.848\n"
                                    "new_us: 1499.136\ntimeout: 183\nscale: 3\nheaders: 1\n");
    EXPECT_EQ(shown(1), std::vector<std::string>{"1499.136"});
    EXPECT_EQ(set("0x1 261.9").text, "runlist: 0\ntsg: 1\nasked_us: 261.900\nold_us: 1499.136\n"
                                     "new_us: 261.120\ntimeout: 255\nscale: 0\nheaders: 1\n");
    EXPECT_EQ(set("0:2 1.024").text, "runlist: 0\ntsg: 2\nasked_us: 1.024\nold_us: 1998.848\n"
                                     "new_us: 1.024\ntimeout: 1\nscale: 0\nheaders: 1\n");
    EXPECT_EQ(set("0:1 8556380.160").text,
              "runlist: 0\ntsg: 1\nasked_us: 8556380.160\nold_us: 261.120\n"
              "new_us: 8556380.160\ntimeout: 255\nscale: 15\nheaders: 1\n");
    EXPECT_EQ(set("0:2 3.000").text, "runlist: 0\ntsg: 2\nasked_us: 3.000\nold_us: 1.024\n"
                                     "new_us: 2.048\ntimeout: 2\nscale: 0\nheaders: 1\n");
    EXPECT_EQ(machine.done, (std::vector<std::string>{
                                "set the timeslice of 1 TSG: 0:1 1499.136 us (by uid 0)\n",
                                "set the timeslice of 1 TSG: 0:1 261.120 us (by uid 0)\n",
                                "set the timeslice of 1 TSG: 0:2 1.024 us (by uid 0)\n",
                                "set the timeslice of 1 TSG: 0:1 8556380.160 us (by uid 0)\n",
                                "set the timeslice of 1 TSG: 0:2 2.048 us (by uid 0)\n"}));
    EXPECT_EQ(shown(0), std::vector<std::string>{"1998.848"});
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(Timeslice, IsSetInAllHeaders) {
    begin("mixed");
    EXPECT_EQ(set("0:10 5000").text, "runlist: 0\ntsg: 10\nasked_us: 5000.000\nold_us: 1998.848\n"
                                     "new_us: 4980.736\ntimeout: 152\nscale: 5\nheaders: 2\n");
    EXPECT_EQ(shown(10), (std::vector<std::string>{"4980.736", "4980.736"}));
    EXPECT_EQ(shown(12), std::vector<std::string>{"999.424"});
}

TEST_P(Timeslice, IsSetForOneTsgAlone) {
    begin("mixed");
    const std::vector<Header> before = headers();
    EXPECT_GT(before.size(), 3U);
    unsigned tried = 0;
    for (const Header &one : before) {
        // Asking for the same timeslice gives the same words again if the timeslice is not 0 and
        // has the smallest possible scale.
        const unsigned long least = one.fields.at("Scale") == "0" ? 1 : 128;
        if (std::stoul(one.fields.at("Timeout")) < least)
            continue;
        tried++;
        const std::string name = std::to_string(one.runlist) + ":" + std::to_string(one.tsg) + " ";
        std::vector<Header> expected = before;
        for (Header &header : expected)
            if (header.runlist == one.runlist && header.tsg == one.tsg) {
                header.fields["Timeout"] = "244";
                header.fields["Scale"] = "1";
                header.fields["Timeslice (us)"] = "499.712";
            }
        ASSERT_EQ(set(name + "500").error, 0) << name;
        EXPECT_TRUE(headers() == expected) << name;
        ASSERT_EQ(set(name + one.fields.at("Timeslice (us)")).error, 0) << name;
        EXPECT_TRUE(headers() == before) << name;
    }
    EXPECT_GT(tried, 3U);
}

/// The driver's list is current again after the submit, with the new word in its header.
TEST_P(Timeslice, IsSubmittedWithTheSameList) {
    const u32 header = word(loc.addr + 3 * entry_bytes);
    machine.written.clear();
    ASSERT_EQ(set("0:1 4000").error, 0);
    EXPECT_NE(word(loc.addr + 3 * entry_bytes), header);
    EXPECT_FALSE(machine.written.empty());
    nvdebug_runlist_location now{};
    const nvdebug_runlist *const list = &machine.gpu()->topology.runlist[0];
    EXPECT_EQ(machine.locked([&] { return nvdebug_submit_settle(machine.gpu(), list, &now); }), 0);
    EXPECT_TRUE(nvdebug_runlist_location_same(&now, &loc));
}

/// A list in system memory may be the module's own, which is freed under the lock.
TEST_P(Timeslice, IsWrittenUnderTheLockInSystemMemory) {
    begin("sysmem");
    int words = 0;
    machine.on_memory_write = [&](u64, u32) {
        words++;
        EXPECT_TRUE(machine.gpu()->lock.held);
        return false;
    };
    {
        Open open(machine, file("set_timeslice"));
        EXPECT_EQ(open.write("lease 0:1 4000").error, 0);
        EXPECT_EQ(words, 1);
        EXPECT_EQ(shown(1), std::vector<std::string>{"3997.696"});
    }
    EXPECT_EQ(words, 2);
    EXPECT_EQ(shown(1), std::vector<std::string>{"1998.848"});
}

TEST_P(Timeslice, IsSetInAnOverrideList) {
    ASSERT_EQ(Open(machine, file("switch_to_tsg")).write("0:1").error, 0);
    ASSERT_EQ(set("0:1 4000").error, 0);
    EXPECT_EQ(shown(1), std::vector<std::string>{"3997.696"});
    EXPECT_EQ(set("0:2 4000").error, -EINVAL);
    ASSERT_EQ(Open(machine, file("resubmit_runlist")).write("0").error, 0);
    EXPECT_EQ(shown(1), std::vector<std::string>{"1998.848"});
}

TEST_P(Timeslice, LeaseCoversAtMost256Headers) {
    for (const u32 count : {256U, 257U}) {
        fill_with_headers(count);
        EXPECT_NE(set("0:1 3000").text.find("headers: " + std::to_string(count) + "\n"),
                  std::string::npos);
        const int error = Open(machine, file("set_timeslice")).write("lease 0:1 4000").error;
        EXPECT_EQ(error, count == 256 ? 0 : -E2BIG);
    }
}

/// Word 0 may look the same after the memory was reused, but the words behind it differ.
TEST_P(Timeslice, IsNotRestoredIntoAnotherHeader) {
    for (u64 at = 4; at < entry_bytes; at += 4) {
        begin("three-tasks");
        const u64 header = loc.addr + 3 * entry_bytes;
        u32 set_to = 0;
        {
            Open open(machine, file("set_timeslice"));
            ASSERT_EQ(open.write("lease 0:1 4000").error, 0);
            set_to = word(header);
            machine.Model::memory_write(loc.aperture, header + at, word(header + at) ^ 1);
        }
        EXPECT_EQ(word(header), set_to) << at;
    }
}

/// A signal arrives when there is something to restore.
TEST_P(Timeslice, IsRestoredForAKilledTask) {
    const u32 header = word(loc.addr + 3 * entry_bytes);
    for (const std::string workload : {"three-tasks", "sysmem"}) {
        begin(workload);
        machine.on_write = [](u32, u32) { return shim.killed = true, true; };
        EXPECT_NE(set("0:1 4000").error, 0);
        shim.killed = false;
        machine.on_write = nullptr;
        EXPECT_EQ(word(loc.addr + 3 * entry_bytes), header) << workload;
        EXPECT_TRUE(machine.errors.empty()) << workload;
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, Timeslice,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

} // namespace
} // namespace core
