// SPDX-License-Identifier: MIT OR GPL-2.0
// Addresses without memory, and lengths that reach past the end of memory. The kernel decides which
// memory of a machine may be read: tests/module/test_outside.py.
#include "bench.hpp"
#include "text.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <set>

namespace core {
namespace {

// Words of an instance block (RAMIN): page directory, valid subcontexts, the first one's directory.
constexpr std::uint64_t directory = 128, subcontexts_valid = 166, subcontext = 168;
constexpr std::uint64_t subcontext_words = 4;
constexpr std::uint64_t longest = 0xffff;
const std::uint64_t many = std::getenv("NVDEBUG_LONG") == nullptr ? 4096 : longest;

const std::map<std::string, std::uint32_t> target{{"vid", 0}, {"coh", 2}, {"ncoh", 3}};

constexpr std::uint32_t low(std::uint64_t address) {
    return static_cast<std::uint32_t>(address) & 0xfffff000;
}
constexpr std::uint32_t high(std::uint64_t address) {
    return static_cast<std::uint32_t>(address >> 32);
}

struct Place {
    std::uint64_t address;
    std::string aperture;
};

class Outside : public OnBoard {
  protected:
    std::uint64_t video_end() { return bench.machine.model().board().video_bytes; }
    std::vector<Place> nowhere() {
        return {{video_end(), "vid"}, {0xfffffff000, "vid"}, {0xa0000, "coh"},
                {0xf0000, "ncoh"},    {0xfffffff000, "coh"}, {0xfffffff000, "ncoh"}};
    }
    /// Returns true for video memory on boards where no published register has its size. Addresses
    /// beyond its end are read there; the bus answers with errors, and the model records them.
    bool is_asked_for(const Place &at) {
        return at.aperture == "vid" && !bench.since("gtx1060-3gb");
    }
    int error_of(const Place &at) { return is_asked_for(at) ? -EIO : -EFAULT; }

    void lie(std::uint32_t offset, std::uint32_t value) {
        bench.machine.fault("read " + hex(offset) + " " + hex(value));
    }
    /// Returns the reads of registers since the statistics were reset, in all blocks or in the
    /// blocks of `among`.
    std::uint64_t register_reads(const std::set<std::string> &among = {});
    /// Returns the offset from which BASE_LO, BASE_HI, SUBMIT and SUBMIT_INFO of runlist 0 follow
    /// each other, from Turing on.
    std::uint32_t list_block();
    void list_is_at(const Place &at);
    void list_has(std::uint32_t count) {
        lie(bench.since("rtx2080ti") ? list_block() + 8 : 0x2284, count);
    }
    void instance_is_at(unsigned channel, const Place &at);
    void expect_unreadable(const Place &at);
    [[nodiscard]] Json channel_of(unsigned id);
    unsigned first_channel() { return instances(bench.text("runlist0")).at(0).channel; }

    void TearDown() override {
        for (const auto &record : bench.machine.model().violations().records())
            EXPECT_TRUE(!bench.since("gtx1060-3gb") && record.why == nvmodel::Violation::memory);
    }
};

std::uint64_t Outside::register_reads(const std::set<std::string> &among) {
    std::uint64_t reads = 0;
    for (const auto &[bar, blocks] : bench.machine.model().statistics().blocks())
        for (const auto &[name, block] : blocks)
            reads += among.empty() || among.contains(name) ? block.reads : 0;
    return reads;
}

std::uint32_t Outside::list_block() {
    if (!bench.since("a100"))
        return 0x2b00;
    const nvmodel::Board &board = bench.machine.model().board();
    return board.find_runlist(0)->base + (bench.since("rtx5090") ? 0 : 0x80);
}

void Outside::list_is_at(const Place &at) {
    if (!bench.since("rtx2080ti")) {
        lie(0x2280, static_cast<std::uint32_t>(at.address >> 12) | target.at(at.aperture) << 28);
        return;
    }
    lie(list_block(), low(at.address) | target.at(at.aperture));
    lie(list_block() + 4, high(at.address));
}

/// Moves the instance block: in the channel's entry, or up to Turing in a register.
void Outside::instance_is_at(unsigned channel, const Place &at) {
    if (!bench.ids_per_runlist()) {
        lie(0x800000 + 8 * channel,
            1U << 31 | target.at(at.aperture) << 28 | static_cast<std::uint32_t>(at.address >> 12));
        return;
    }
    const Json list = bench.list();
    for (std::uint64_t entry = 0; entry < list.at("entries"); entry++) {
        std::vector<std::uint32_t> words = bench.peek(list, 16 * entry, 4);
        if ((words[0] & 1) || (words[2] & 0xfff) != channel)
            continue;
        words[0] = (words[0] & ~0x30U) | target.at(at.aperture) << 4;
        words[2] = low(at.address) | channel;
        words[3] = high(at.address);
        bench.poke(list, 16 * entry, words);
    }
}

Json Outside::channel_of(unsigned id) {
    const Json layout = bench.layout();
    for (const Json &channel : layout.at("channels"))
        if (channel.at("runlist") == 0 && channel.at("channel") == id)
            return channel;
    ADD_FAILURE() << "no channel " << id;
    return {};
}

/// Checks the files' errors while the list is where no memory is. `contexts` has a line for an
/// unreadable runlist.
void Outside::expect_unreadable(const Place &at) {
    for (const std::string file : {"runlist0", "runlist0_brief", "contexts"}) {
        const bool line = file == "contexts" && error_of(at) == -EIO;
        const Text got = bench.read(file);
        EXPECT_EQ(got.error, line ? 0 : error_of(at))
            << file << ", " << hex(at.address) << " " << at.aperture;
        EXPECT_EQ(got.text.find("\n0 - - - - - - - unreadable\n") != std::string::npos, line);
    }
}

TEST_P(Outside, ListsWithoutMemoryAreErrors) {
    const std::size_t was = entries(bench.text("runlist0_brief")).size();
    for (const Place &at : nowhere()) {
        list_is_at(at);
        bench.machine.model().statistics().reset();
        expect_unreadable(at);
        for (const auto &[file, request] :
             {std::pair("switch_to_tsg", "0:0"), std::pair("set_timeslice", "0:0 1000"),
              std::pair("preempt_tsg", "0:0")}) {
            const int error = bench.write(file, request).error;
            EXPECT_TRUE(error == -EFAULT || error == -EIO) << file << ": " << error;
        }
        EXPECT_LE(register_reads(), 300U);
        bench.machine.fault("none");
        EXPECT_EQ(entries(bench.text("runlist0_brief")).size(), was);
    }
}

TEST_P(Outside, LengthPastTheEndOfMemoryIsAnError) {
    const bool asked = is_asked_for({0, "vid"});
    const std::uint32_t count = asked ? 1024 : longest;
    bench.machine.fault("none");
    list_is_at({video_end() - 4096, "vid"});
    list_has(count);
    expect_unreadable({video_end(), "vid"});
    EXPECT_LE(bench.machine.model().faults().accesses(), (asked ? 3 * 2 * count : 0) + 200U);
}

/// Each word is read at most once, and each entry is shown.
TEST_P(Outside, LongerListShowsWhateverIsBehindIt) {
    bench.machine.restart("low");
    list_has(static_cast<std::uint32_t>(many));
    bench.machine.model().statistics().reset();
    bench.machine.words_read.emplace();
    const std::string text = bench.text("runlist0_brief");
    EXPECT_LE(bench.machine.words_read->words, many * bench.entry_words());
    EXPECT_GE(bench.machine.words_read->words, many);
    EXPECT_EQ(bench.machine.words_read->again, 0U);
    EXPECT_LE(register_reads({"PCCSR", "CHRAM"}), many * (bench.ids_per_runlist() ? 1 : 2));
    EXPECT_EQ(entries(text).size(), 1 + many);
}

TEST_P(Outside, InstanceBlockWithoutMemoryShowsAnError) {
    bench.machine.restart("fig6");
    const std::vector<Instance> was = instances(bench.text("runlist0"));
    const unsigned first = was.at(0).channel;
    const Json list = bench.list();
    const auto words =
        bench.peek(list, 0, list.at("entries").get<std::size_t>() * bench.entry_words());
    for (const Place &at : nowhere()) {
        instance_is_at(first, at);
        const std::string why = is_asked_for(at) ? "unreadable" : "no such memory";
        const std::vector<Instance> now = instances(bench.text("runlist0"));
        ASSERT_EQ(now.size(), was.size());
        for (std::size_t i = 0; i < now.size(); i++) {
            EXPECT_EQ(now[i].channel, was[i].channel);
            const auto error = now[i].fields.find("Error");
            EXPECT_EQ(error == now[i].fields.end() ? "" : error->second, i ? "" : why);
        }
        std::string word = why;
        std::ranges::replace(word, ' ', '-');
        EXPECT_NE(bench.text("contexts").find(word), std::string::npos) << word;
        const std::string channel = "0:" + std::to_string(first);
        EXPECT_EQ(bench.write("translate", channel + " 0x1000").error, error_of(at));
        if (bench.has("preemption_mode")) {
            EXPECT_EQ(bench.write("preemption_mode", channel + " wfi").error, error_of(at));
        }
        bench.machine.fault("none");
        bench.poke(list, 0, words);
    }
}

/// The page directories of the block and of its subcontexts lead to no memory.
TEST_P(Outside, PageDirectoriesWithoutMemoryAreErrors) {
    for (const Place &at : nowhere()) {
        bench.machine.restart("fig6");
        const unsigned first = first_channel();
        const Json channel = channel_of(first);
        std::vector<std::uint64_t> at_words{directory};
        if (!channel.at("subcontexts").is_null())
            for (const Json &one : channel.at("subcontexts"))
                at_words.push_back(subcontext +
                                   subcontext_words * one.at("veid").get<std::uint64_t>());
        for (const std::uint64_t word : at_words) {
            const std::uint32_t flags = bench.peek(channel.at("instance"), 4 * word, 1)[0] & 0xffc;
            bench.poke(
                channel.at("instance"), 4 * word,
                std::array{low(at.address) | flags | target.at(at.aperture), high(at.address)});
        }
        const Text got = bench.write("translate", "0:" + std::to_string(first) + " 0x1000");
        EXPECT_EQ(got.error, is_asked_for(at) ? -EIO : 0);
        if (!got.error) {
            const std::string error = pairs(got.text)["error"];
            EXPECT_TRUE(error.find("is outside of memory") != std::string::npos ||
                        error.find("is or leads to no memory") != std::string::npos)
                << error;
        }
        const Instance shown = instances(bench.text("runlist0")).at(0);
        EXPECT_TRUE(!shown.context || !shown.context->contains("Compute Preemption"));
        EXPECT_NE(bench.text("contexts"), "");
    }
}

TEST_P(Outside, SubcontextsThatLeadNowhereAreShown) {
    constexpr unsigned most = 64;
    if (!bench.since("titan-v"))
        return;
    bench.machine.restart("fig7");
    const unsigned first = first_channel();
    const Json block = channel_of(first).at("instance");
    bench.poke(block, 4 * subcontexts_valid, std::array{~0U, ~0U});
    for (const Place &at : nowhere()) {
        for (unsigned veid = 0; veid < most; veid++)
            bench.poke(block, 4 * (subcontext + subcontext_words * veid),
                       std::array{low(at.address) | 0xc00 | target.at(at.aperture),
                                  high(at.address), 0U, 0U});
        const Instance shown = instances(bench.text("runlist0")).at(0);
        ASSERT_EQ(shown.channel, first);
        ASSERT_EQ(shown.subcontexts.size(), most);
        EXPECT_EQ(shown.subcontexts.rbegin()->first, most - 1);
        EXPECT_NE(bench.text("contexts"), "");
    }
}

/// A header announces more channels than there are entries.
TEST_P(Outside, LongestGroupEndsWithTheList) {
    const Json list = bench.list();
    std::vector<std::uint32_t> words = bench.peek(list, 0, bench.entry_words());
    words[bench.wide_entries() ? 1 : 0] |= bench.wide_entries() ? 0xffU : 0x3fU << 26;
    bench.poke(list, 0, words);
    std::vector<Box> shown = boxes(bench.text("runlist0_brief"));
    EXPECT_EQ(shown.at(1).fields["Truncated"], bench.wide_entries() ? "2 of 255" : "2 of 63");
    EXPECT_EQ(shown.size(), 1 + list.at("entries").get<std::size_t>());
}

INSTANTIATE_TEST_SUITE_P(All, Outside, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
