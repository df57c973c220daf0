// SPDX-License-Identifier: MIT OR GPL-2.0
// Page tables. The module's walk is compared with the mappings of the driver and with the model's
// MMU. Tables that lead back to themselves end a walk, and cost no more than other tables.
#include "page_tables.hpp"
#include "text.hpp"

#include <array>
#include <map>
#include <random>

namespace core {
namespace {

constexpr unsigned samples = 600; // random addresses per board

class Walks : public OnBoard {
  protected:
    void restart(const std::string &workload) {
        bench.machine.restart(workload);
        layout = bench.layout();
    }
    /// Returns the words of memory that reading these files takes.
    std::uint64_t words_of(const std::vector<std::string> &files) {
        bench.machine.words_read.emplace();
        for (const std::string &file : files)
            bench.text(file);
        return bench.machine.words_read->words;
    }
    /// Fills all page directories with entries that point to the same directory or to the next one.
    void lead_back(bool to_itself);

    Json layout;
};

std::string place(const Json &at, std::uint64_t offset = 0) {
    return hex(number(at.at("address")) + offset) + " " + at.at("aperture").get<std::string>();
}

/// Returns the words of an entry that leads to the table, or of one half of a dual entry.
std::array<std::uint32_t, 2> pointer(unsigned version, const Json &table) {
    const std::map<std::string, std::uint64_t> codes{{"vid", 1}, {"coh", 2}, {"ncoh", 3}};
    const std::uint64_t address = number(table.at("address"));
    const std::uint64_t code = codes.at(table.at("aperture"));
    if (version == 1) {
        const auto word = static_cast<std::uint32_t>(address >> 8 | code);
        return {word, word};
    }
    const std::uint64_t entry = (version == 2 ? address >> 4 : address) | code << 1;
    return {static_cast<std::uint32_t>(entry), static_cast<std::uint32_t>(entry >> 32)};
}

void Walks::lead_back(bool to_itself) {
    std::map<unsigned, std::vector<Space>> by_version;
    for (const Space &space : spaces(bench, layout))
        by_version[space.version()].push_back(space);
    for (auto &[version, all] : by_version)
        for (std::size_t i = 0; i < all.size(); i++) {
            const Space &next = to_itself ? all[i] : all[(i + 1) % all.size()];
            all[i].fill_with(pointer(version, next.directory()));
        }
}

TEST_P(Walks, FindEveryMapping) {
    restart("page-tables");
    std::mt19937_64 random(1);
    for (const Json &one : layout.at("address_spaces")) {
        const Space space(bench, layout, one);
        for (const Json &mapping : one.at("mappings")) {
            const auto size = mapping.at("page_size").get<std::uint64_t>();
            const std::uint64_t inside = random() % size;
            const Text got =
                bench.write("translate", space.request(number(mapping.at("va")) + inside));
            ASSERT_EQ(got.error, 0) << mapping;
            Fields said = pairs(got.text);
            EXPECT_EQ(said["result"], place(mapping, inside)) << mapping;
            EXPECT_EQ(said["page_size"], std::to_string(size)) << mapping;
        }
    }
}

/// The addresses are near mappings, or anywhere.
TEST_P(Walks, AgreeWithTheModelsMmu) {
    const std::map<unsigned, unsigned> bits{{1, 40}, {2, 49}, {3, 57}};
    restart("page-tables");
    std::mt19937_64 random(2);
    std::vector<Space> all = spaces(bench, layout);
    for (unsigned i = 0; i < samples; i++) {
        const std::size_t chosen = random() % all.size();
        const Json &mappings = layout.at("address_spaces")[chosen].at("mappings");
        const Json &mapping = mappings[random() % mappings.size()];
        const std::uint64_t va = number(mapping.at("va"));
        const std::array tried{va - 4096, va + mapping.at("page_size").get<std::uint64_t>(),
                               va ^ std::uint64_t{1} << (12 + random() % 28), random()};
        const std::uint64_t space_size = std::uint64_t{1} << bits.at(all[chosen].version());
        all[chosen].expect_agreement(tried[random() % tried.size()] % space_size);
    }
}

TEST_P(Walks, BeginAtAChannel) {
    restart("fig6");
    for (const Json &channel : layout.at("channels")) {
        if (channel.at("engine_context").is_null())
            continue;
        const std::string request = channel.at("runlist").dump() + ":" +
                                    channel.at("channel").dump() + " " +
                                    channel.at("engine_context").at("address").get<std::string>();
        const Text got = bench.write("translate", request);
        ASSERT_EQ(got.error, 0) << request;
        EXPECT_EQ(pairs(got.text)["result"], place(channel.at("context").at("header"))) << request;
    }
}

TEST_P(Walks, ReadEachEntryOnce) {
    restart("page-tables");
    const Space space(bench, layout, layout.at("address_spaces")[0]);
    bench.machine.words_read.emplace();
    const Json &first = layout.at("address_spaces")[0].at("mappings")[0];
    EXPECT_EQ(bench.write("translate", space.request(number(first.at("va")))).error, 0);
    EXPECT_GT(bench.machine.words_read->words, 0U);
    EXPECT_LE(bench.machine.words_read->words, words_per_walk);
    EXPECT_EQ(bench.machine.words_read->again, 0U);
}

/// The circles are in video memory, in system memory, and from one into the other.
TEST_P(Walks, EndInCircularTables) {
    for (const bool to_itself : {true, false}) {
        restart("page-tables");
        lead_back(to_itself);
        for (Space &space : spaces(bench, layout))
            for (const std::uint64_t va :
                 {0x0UL, 0x10000UL, 0x8000000UL, 0x12345678UL, 0x345678000UL}) {
                bench.machine.words_read.emplace();
                space.expect_agreement(va);
                EXPECT_GT(bench.machine.words_read->words, 0U);
                EXPECT_LE(bench.machine.words_read->words, words_per_walk) << space.request(va);
            }
    }
}

TEST_P(Walks, ContextsBehindCirclesAreUnreadable) {
    for (const char *const workload : {"fig6", "sysmem"}) {
        restart(workload);
        const std::uint64_t was = words_of({"runlist0", "contexts"});
        lead_back(true);
        EXPECT_LE(words_of({"runlist0", "contexts"}),
                  was + 2 * words_per_walk * layout.at("channels").size());
        const std::size_t channels = static_cast<std::size_t>(std::ranges::count_if(
            layout.at("channels"), [](const Json &channel) { return channel.at("runlist") == 0; }));
        const std::string text = bench.text("runlist0");
        EXPECT_EQ(of_kind(boxes(text), "Channel Info").size(), channels);
        EXPECT_EQ(instances(text).size(), channels);
        EXPECT_EQ(text.find("Compute Preemption"), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Walks, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
