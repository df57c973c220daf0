// SPDX-License-Identifier: MIT OR GPL-2.0
// Instance blocks, subcontexts, contexts and address spaces are printed with the values that the
// workload asked for, and at the addresses where the modelled driver put them.
#include "contexts.hpp"

#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace core {
namespace {

std::string flag(const Json &value) {
    return value.is_null()      ? "-"
           : value.is_boolean() ? value.get<bool>() ? "1" : "0"
                                : value.dump();
}

std::uint64_t address(const Fields &fields, const std::string &name) {
    return std::stoull(fields.at(name), nullptr, 16);
}

/// Returns the page directory that the channel's compute work uses.
Place space_of(const Json &channel) {
    if (!channel.at("subcontexts").is_null())
        for (const Json &entry : channel.at("subcontexts"))
            if (entry.at("veid") == channel.at("veid"))
                return place(entry);
    return place(channel.at("page_directory"));
}

// --- Workloads on all boards ---

const std::vector<std::string> everywhere{"fig6", "mixed", "sysmem", "page-tables", "bars"};
const std::vector<std::string> volta_on{"fig7", "preemption"};

std::vector<std::tuple<std::string, std::string>> cases() {
    std::vector<std::tuple<std::string, std::string>> all;
    for (const std::string &board : cards)
        for (const std::string &workload : everywhere)
            all.emplace_back(board, workload);
    for (const std::string &board : cards_since("titan-v"))
        for (const std::string &workload : volta_on)
            all.emplace_back(board, workload);
    for (const std::string board : {"gtx1060-3gb", "gtx1080ti"})
        all.emplace_back(board, "preemption");
    // These workloads are so large that some hashes collide.
    for (const auto &[board, workload] :
         {std::pair("gtx980", "many-64"), std::pair("titan-v", "many-1000"),
          std::pair("h200", "mps-many")})
        all.emplace_back(board, workload);
    return all;
}

class Contexts : public testing::TestWithParam<std::tuple<std::string, std::string>> {
  protected:
    Contexts() : bench(std::get<0>(GetParam()), std::get<1>(GetParam())) {
        bench.machine.model().advance(20000 * nvmodel::ns_per_us);
    }
    void compare_instance(const Fields &fields, const Json &wanted);
    void compare_directory(const Fields &fields, const Json &wanted);
    void compare_subcontexts(const Instance &shown, const Json &wanted);
    void compare_context(const Instance &shown, const Json &wanted, const Json &later);

    Bench bench;
    std::map<std::vector<std::pair<unsigned, Place>>, unsigned> tables;
    std::map<Place, unsigned> images;
};

void Contexts::compare_directory(const Fields &fields, const Json &wanted) {
    EXPECT_EQ(Place(address(fields, "Page Directory"), fields.at("Page Directory Aperture")),
              place(wanted));
    EXPECT_EQ(fields.at("Page Directory Volatile"), flag(wanted.at("volatile")));
}

void Contexts::compare_instance(const Fields &fields, const Json &wanted) {
    EXPECT_EQ(fields.at("Page Tables"), wanted.at("page_tables").dump());
    if (wanted.at("page_tables") == 1) {
        EXPECT_EQ(fields.at("Big Page Size (KiB)"), wanted.at("big_page_kib").dump());
    }
    compare_directory(fields, wanted.at("page_directory"));
    EXPECT_EQ(fields.at("VEID"), flag(wanted.at("veid")));
    EXPECT_EQ(fields.at("PASID"), flag(wanted.at("pasid")));
    EXPECT_EQ(fields.at("ATS"), flag(wanted.at("ats")));
    const bool has_ramfc = !bench.since("h200");
    EXPECT_EQ(fields.at("Target Engine"), has_ramfc ? wanted.at("target_engine").dump() : "-");
    EXPECT_EQ(fields.at("Privileged"), has_ramfc ? flag(wanted.at("privileged")) : "-");
    const Json &pointer = wanted.at("engine_context");
    if (pointer.is_null()) {
        EXPECT_EQ(fields.at("Engine WFI Pointer"), "-");
        EXPECT_EQ(fields.at("Engine WFI Aperture"), "-");
        EXPECT_EQ(fields.at("Engine WFI Mode"), "-");
        return;
    }
    EXPECT_EQ(address(fields, "Engine WFI Pointer"), number(pointer.at("address")));
    EXPECT_EQ(fields.at("Engine WFI Mode"), pointer.at("mode"));
    EXPECT_EQ(fields.at("Engine WFI Aperture"), pointer.at("aperture"));
}

/// A table is printed once. Later boxes name the channel that shows it.
void Contexts::compare_subcontexts(const Instance &shown, const Json &wanted) {
    const std::string &said = shown.fields.at("Subcontexts");
    const Json &entries = wanted.at("subcontexts");
    if (entries.is_null()) {
        EXPECT_EQ(said, "-");
        EXPECT_TRUE(shown.subcontexts.empty());
        return;
    }
    std::vector<std::pair<unsigned, Place>> contents;
    for (const Json &entry : entries)
        contents.emplace_back(entry.at("veid"), place(entry));
    const auto [found, is_new] = tables.emplace(contents, shown.channel);
    if (!is_new) {
        EXPECT_EQ(said, "as Channel " + std::to_string(found->second));
        EXPECT_TRUE(shown.subcontexts.empty());
        return;
    }
    EXPECT_EQ(said, std::to_string(entries.size()));
    ASSERT_EQ(shown.subcontexts.size(), entries.size());
    for (const Json &entry : entries) {
        const Fields &box = shown.subcontexts.at(entry.at("veid"));
        compare_directory(box, entry);
        EXPECT_EQ(box.at("PASID"), flag(entry.at("pasid")));
        EXPECT_EQ(box.at("ATS"), flag(entry.at("ats")));
    }
}

/// The GPU's time passes while a file is read, so counters may grow up to their values in `later`.
void Contexts::compare_context(const Instance &shown, const Json &wanted, const Json &later) {
    const std::string &said = shown.fields.at("Context");
    const Json &context = wanted.at("context");
    if (context.is_null()) {
        EXPECT_TRUE(said == "none" || said == "-") << said;
        EXPECT_FALSE(shown.context);
        return;
    }
    const Place image = place(context.at("image"));
    const auto [found, is_new] = images.emplace(image, shown.channel);
    if (!is_new) {
        EXPECT_EQ(said, "as Channel " + std::to_string(found->second));
        EXPECT_FALSE(shown.context);
        return;
    }
    EXPECT_EQ(said, "below");
    ASSERT_TRUE(shown.context);
    const Fields &fields = *shown.context;
    EXPECT_EQ(Place(address(fields, "Image Address"), fields.at("Image Aperture")), image);
    EXPECT_EQ(address(fields, "Image"), number(context.at("image_va")));
    EXPECT_EQ(fields.at("Context ID"), context.at("id").dump());
    for (const auto &[name, key] :
         std::map<std::string, std::string>{{"Saves", "saves"},
                                            {"Restores", "restores"},
                                            {"WFI Saves", "wfi_saves"},
                                            {"CTA Saves", "cta_saves"},
                                            {"GFXP Saves", "gfxp_saves"},
                                            {"CILP Saves", "cilp_saves"}}) {
        if (context.at(key).is_null()) {
            EXPECT_EQ(fields.at(name), "-") << name;
            continue;
        }
        const auto count = std::stoull(fields.at(name));
        EXPECT_GE(count, context.at(key).get<std::uint64_t>()) << name;
        EXPECT_LE(count, later.at("context").at(key).get<std::uint64_t>()) << name;
    }
    // Images before Pascal have no preemption modes.
    const bool modes = bench.since("gtx1060-3gb");
    for (const auto &[name, key] : {std::pair("Graphics Preemption", "graphics_preemption"),
                                    std::pair("Compute Preemption", "compute_preemption")})
        EXPECT_EQ(fields.at(name), modes ? context.at(key).get<std::string>() : "-");
}

TEST_P(Contexts, AreBelowEachChannel) {
    const Json layout = bench.layout();
    const std::map<Key, Json> wanted = by_channel(layout);
    std::map<unsigned, std::string> texts;
    for (const Json &list : layout.at("runlists"))
        if (list.at("entries") != 0)
            texts[list.at("id")] = bench.text("runlist" + list.at("id").dump());
    const std::map<Key, Json> later = by_channel(bench.layout());
    std::set<Key> seen;
    for (const auto &[runlist, text] : texts) {
        tables.clear();
        images.clear();
        for (const Instance &shown : instances(text)) {
            const Key key{runlist, shown.channel};
            if (!seen.insert(key).second) {
                EXPECT_EQ(shown.fields,
                          (Fields{{"Same as Channel", std::to_string(shown.channel)}}));
                continue;
            }
            SCOPED_TRACE("channel " + std::to_string(runlist) + ":" +
                         std::to_string(shown.channel));
            compare_instance(shown.fields, wanted.at(key));
            compare_subcontexts(shown, wanted.at(key));
            compare_context(shown, wanted.at(key), later.at(key));
        }
    }
    EXPECT_EQ(seen.size(), wanted.size());
}

TEST_P(Contexts, FileListsTheAddressSpacesOfTheLayout) {
    // The channels by runlist, TSG, page directory and VEID; groups are in the order of their first
    // channels.
    using Veids = std::vector<std::pair<std::string, std::string>>;
    using Spaces = std::vector<std::pair<Place, Veids>>;
    std::map<unsigned, std::vector<std::pair<std::string, Spaces>>> lists;
    const auto slot = [](auto &all, const auto &key) -> auto & {
        const auto found = std::ranges::find(all, key, [](const auto &one) { return one.first; });
        if (found != all.end())
            return found->second;
        all.emplace_back(key, typename std::decay_t<decltype(all)>::value_type::second_type{});
        return all.back().second;
    };
    const Json layout = bench.layout();
    for (const Json &channel : layout.at("channels")) {
        auto &spaces = slot(lists[channel.at("runlist")], flag(channel.at("tsg")));
        auto &veids = slot(spaces, space_of(channel));
        std::string &channels = slot(veids, flag(channel.at("veid")));
        channels += (channels.empty() ? "" : ",") + channel.at("channel").dump();
    }
    std::vector<std::vector<std::string>> wanted;
    for (const auto &[runlist, tsgs] : lists)
        for (const auto &[tsg, spaces] : tsgs)
            for (const auto &[space, veids] : spaces)
                for (const auto &[veid, channels] : veids) {
                    std::array<char, 32> directory{};
                    std::snprintf(directory.data(), directory.size(), "0x%010lx", space.first);
                    wanted.push_back({std::to_string(runlist), tsg,
                                      spaces.size() > 1 ? "yes" : "no",
                                      std::to_string(spaces.size()), directory.data(), space.second,
                                      veid, channels, "-"});
                }
    EXPECT_EQ(rows(bench.text("contexts")), wanted);
}

INSTANTIATE_TEST_SUITE_P(All, Contexts, testing::ValuesIn(cases()), [](const auto &on) {
    std::string name = std::get<0>(on.param) + "_" + std::get<1>(on.param);
    std::erase(name, '-');
    return name;
});

// --- figures of the ECRTS'25 paper ---

class Figures : public OnBoard {
  protected:
    /// Returns TSG, shared, VEID and channels of each row of the graphics runlist.
    std::vector<std::vector<std::string>> graphics() {
        std::vector<std::vector<std::string>> all;
        for (const auto &row : rows(bench.text("contexts")))
            if (row.at(0) == "0")
                all.push_back({row.at(1), row.at(2), row.at(6), row.at(7)});
        return all;
    }
};

/// Three tasks have three TSGs of two channels, each with an address space of its own.
TEST_P(Figures, SixHasThreeTasksInSpacesOfTheirOwn) {
    bench.machine.restart("fig6");
    const std::string veid = bench.since("titan-v") ? "0" : "-";
    EXPECT_EQ(graphics(),
              (std::vector<std::vector<std::string>>{
                  {"0", "no", veid, "0,1"}, {"1", "no", veid, "2,3"}, {"2", "no", veid, "4,5"}}));
    std::set<Place> spaces;
    for (const auto &row : rows(bench.text("contexts")))
        spaces.emplace(std::stoull(row.at(4), nullptr, 16), row.at(5));
    EXPECT_EQ(spaces.size(), 3U);
}

/// Task 1 is alone. Tasks 2 and 3 are clients of an MPS server, in its TSG.
TEST_P(Figures, SevenHasMpsClientsInOneTsg) {
    if (!bench.since("titan-v"))
        return;
    bench.machine.restart("fig7");
    EXPECT_EQ(graphics(), (std::vector<std::vector<std::string>>{{"0", "no", "0", "0,1"},
                                                                 {"1", "yes", "0", "2"},
                                                                 {"1", "yes", "1", "3,4"},
                                                                 {"1", "yes", "2", "5,6"}}));
    std::map<unsigned, Instance> below;
    for (const Instance &one : instances(bench.text("runlist0")))
        below.emplace(one.channel, one);
    EXPECT_EQ(below.at(0).subcontexts.size(), 1U);
    EXPECT_EQ(below.at(2).fields.at("Subcontexts"), "3");
    for (const unsigned channel : {3U, 4U, 5U, 6U})
        EXPECT_EQ(below.at(channel).fields.at("Subcontexts"), "as Channel 2");
    for (const auto &[channel, veid] :
         std::map<unsigned, unsigned>{{2, 0}, {3, 1}, {4, 1}, {5, 2}, {6, 2}}) {
        EXPECT_EQ(below.at(channel).fields.at("VEID"), std::to_string(veid));
        // Copies use the client's own tables.
        EXPECT_EQ(below.at(channel).fields.at("Page Directory"),
                  below.at(2).subcontexts.at(veid).at("Page Directory"));
    }
}

INSTANTIATE_TEST_SUITE_P(All, Figures, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
