// SPDX-License-Identifier: MIT OR GPL-2.0
// Counts the core's accesses to a GPU. The model counts registers, and the machine of the test
// counts words of memory. tests/module/test_cost.py counts the accesses that access/ makes to reach
// a word.
#include "bench.hpp"
#include "page_tables.hpp"
#include "text.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace core {
namespace {

constexpr std::uint64_t budget_rest = 32;
const std::set<std::string> of_channels{"PCCSR", "CHRAM"};

class Cost : public OnBoard {
  protected:
    struct Counts {
        std::uint64_t channel_reads = 0, channel_writes = 0, other_reads = 0, other_writes = 0;
        std::uint64_t reread = 0; // bytes of channels' registers
        WordsRead memory;
        [[nodiscard]] std::uint64_t all() const {
            return channel_reads + channel_writes + other_reads + other_writes + memory.words;
        }
    };
    template <typename Do>
    Counts cost(const Do &what) {
        nvmodel::Statistics &statistics = bench.machine.model().statistics();
        statistics.reset();
        bench.machine.words_read.emplace();
        what();
        Counts counts;
        counts.memory = *bench.machine.words_read;
        const auto all = statistics.blocks().find(nvmodel::Bar::registers);
        if (all == statistics.blocks().end())
            return counts;
        for (const auto &[name, block] : all->second) {
            const bool channels = of_channels.contains(name);
            (channels ? counts.channel_reads : counts.other_reads) += block.reads;
            (channels ? counts.channel_writes : counts.other_writes) += block.writes;
            if (channels)
                counts.reread += block.reread_bytes;
        }
        return counts;
    }
    /// Returns the number of words that reading a list takes. The words with USERD's address are
    /// not read, nor is the high word of an instance pointer that a register has, too.
    std::uint64_t list_words(std::uint64_t entries, std::uint64_t channels) {
        const std::uint64_t of_channel = bench.entry_words() == 2  ? 1
                                         : bench.ids_per_runlist() ? 3
                                                                   : 2;
        return (entries - channels) * bench.entry_words() + channels * of_channel;
    }
    Counts read_cost(const std::string &file, std::string &text) {
        return cost([&] { text = bench.text(file); });
    }
};

TEST_P(Cost, ListReadsEachWordOnce) {
    std::map<std::size_t, std::uint64_t> accesses;
    for (const char *const workload : {"three-tasks", "many-500", "many-1000", "many"}) {
        bench.machine.restart(workload);
        std::string text;
        const Counts counts = read_cost("runlist0_brief", text);
        const std::vector<Box> all = boxes(text);
        const std::size_t channels = of_kind(all, "Channel Info").size();
        const std::size_t count = all.size() - 1;
        const Fields &head = all.at(0).fields;
        EXPECT_EQ(head.at("Snapshot"), "consistent");
        EXPECT_EQ(head.at("Entries"), std::to_string(count));
        EXPECT_EQ(counts.memory.words, list_words(count, channels));
        EXPECT_EQ(counts.memory.again, 0U);
        EXPECT_LE(counts.channel_reads, 2 * channels);
        EXPECT_EQ(counts.reread, 0U);
        EXPECT_LE(counts.other_reads, budget_rest);
        EXPECT_EQ(counts.channel_writes + counts.other_writes, 0U);
        accesses[channels] = counts.all();
    }
    EXPECT_LE(accesses.at(1000), 2 * accesses.at(500));
    EXPECT_LE(accesses.at(2000), 2 * accesses.at(1000));
}

/// Each channel's register is read, written and read again. Enabling also rings the channel's
/// doorbell.
TEST_P(Cost, ControlTakesAFewAccessesPerChannel) {
    bench.machine.restart("many-500");
    for (const unsigned targets : {1U, 6U, 200U}) {
        std::string request;
        for (unsigned channel = 0; channel < targets; channel++)
            request += (bench.ids_per_runlist() ? "0:" : "") + std::to_string(channel) + " ";
        for (const auto &[file, each] :
             {std::pair("disable_channel", 3U), std::pair("enable_channel", 4U)}) {
            const Counts counts =
                cost([&] { EXPECT_EQ(bench.write(file, request).error, 0) << file; });
            EXPECT_EQ(counts.channel_writes, targets) << file;
            EXPECT_LE(counts.all(), each * targets + budget_rest) << file;
        }
    }
}

/// The probe has read the topology. Copy wiring is read without a single write.
TEST_P(Cost, TopologyIsReadWithoutWrites) {
    std::string text;
    EXPECT_EQ(read_cost("device_info", text).all(), 0U);
    if (!bench.has("copy_topology"))
        return;
    const Counts counts = read_cost("copy_topology", text);
    EXPECT_EQ(counts.channel_writes + counts.other_writes, 0U);
    EXPECT_LE(counts.all(), budget_rest);
}

/// An idle engine is read once, and only its status. For an engine with a context the channels are
/// read, too, and then everything is read again.
TEST_P(Cost, EnginesReadsAnIdleEngineOnce) {
    const auto statuses = [](const std::string &text) {
        std::istringstream lines(text);
        std::string line;
        std::getline(lines, line);
        std::uint64_t count = 0;
        while (std::getline(lines, line)) {
            std::istringstream words(line);
            const std::vector<std::string> column{std::istream_iterator<std::string>(words), {}};
            count += column.at(2) != "-";
            if (const std::string &pbdmas = column.at(9); pbdmas != "-")
                count += 1 + static_cast<std::uint64_t>(std::ranges::count(pbdmas, ','));
        }
        return count;
    };
    bench.machine.restart("idle");
    bench.machine.model().advance(5000 * nvmodel::ns_per_us);
    std::string text;
    Counts counts = read_cost("engines", text);
    EXPECT_EQ(text.find("tsg:"), std::string::npos);
    EXPECT_EQ(counts.other_reads, statuses(text));

    bench.machine.restart("three-tasks");
    bench.machine.model().advance(5000 * nvmodel::ns_per_us);
    counts = read_cost("engines", text);
    EXPECT_NE(text.find("tsg:"), std::string::npos);
    EXPECT_GT(counts.other_reads, statuses(text));
}

/// Instance blocks, subcontexts, context images and the walks to them are read once, word by word.
TEST_P(Cost, ContextsReadEachWordOnce) {
    constexpr std::uint64_t per_subcontext = 4, per_context = 24;
    const std::uint64_t per_instance = bench.ids_per_runlist() ? 10 : 12;
    constexpr std::uint64_t walks_per_channel = 1; // the engine pointer, in each address space
    constexpr std::uint64_t walks_per_context = 2; // the image behind a header is looked up, too
    std::vector<std::string> workloads{"fig6", "bars", "sysmem"};
    if (bench.since("titan-v"))
        workloads.insert(workloads.end(), {"fig7", "mps-many"});
    for (const std::string &workload : workloads) {
        bench.machine.restart(workload);
        const Json layout = bench.layout();
        std::uint64_t channels = 0, subcontexts = 0;
        std::set<std::string> instances, images, headers;
        for (const Json &channel : layout.at("channels")) {
            if (channel.at("runlist") != 0)
                continue;
            channels++;
            subcontexts += channel.at("subcontexts").size();
            instances.insert(channel.at("instance").dump());
            if (channel.at("context").is_null())
                continue;
            images.insert(channel.at("context").at("image").dump());
            headers.insert(channel.at("context").at("header").dump());
        }
        std::set<std::string> both = images;
        both.insert(headers.begin(), headers.end());
        const std::uint64_t most =
            bench.list().at("entries").get<std::uint64_t>() * bench.entry_words() +
            per_instance * instances.size() + per_subcontext * subcontexts +
            per_context * both.size() +
            words_per_walk * (channels * walks_per_channel + images.size() * walks_per_context);
        std::string text;
        const Counts counts = read_cost("runlist0", text);
        EXPECT_LE(counts.memory.words, most) << workload;
        EXPECT_EQ(counts.memory.again, 0U) << workload;
        EXPECT_LE(counts.other_reads + counts.other_writes, budget_rest) << workload;
    }
}

/// `contexts` reads only the words of an instance block that distinguish address spaces.
TEST_P(Cost, AddressSpacesTakeAFewWordsOfEachBlock) {
    const std::uint64_t per_instance = bench.since("titan-v") ? 7 : 2;
    for (const char *const workload : {"fig6", "bars", "many-500"}) {
        bench.machine.restart(workload);
        const Json layout = bench.layout();
        std::uint64_t most = 0;
        for (const Json &list : layout.at("runlists"))
            most += list.at("entries").get<std::uint64_t>() * bench.entry_words();
        std::set<std::string> instances;
        for (const Json &channel : layout.at("channels"))
            instances.insert(channel.at("instance").dump());
        most += per_instance * instances.size();
        std::string text;
        const Counts counts = read_cost("contexts", text);
        EXPECT_LE(counts.memory.words, most) << workload;
        EXPECT_EQ(counts.memory.again, 0U) << workload;
    }
}

/// 128 channels have one context. Its image, its tables and its page directories are read once.
TEST_P(Cost, SharedTablesAreReadOnce) {
    if (!bench.since("titan-v"))
        return;
    bench.machine.restart("mps-many");
    for (const char *const file : {"contexts", "runlist0"}) {
        std::string text;
        EXPECT_EQ(read_cost(file, text).memory.again, 0U) << file;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Cost, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
