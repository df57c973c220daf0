// SPDX-License-Identifier: MIT OR GPL-2.0
// The driver's instance blocks, address spaces and contexts, against the answer of the request
// "layout".
#include "started.hpp"

#include "regs/ctxsw.hpp"
#include "regs/ramin.hpp"

#include <filesystem>

namespace nvmodel::test {
namespace {

using namespace regs::ramin;

/// Returns the names of the workloads, without the largest ones, which only have more of the same.
std::vector<std::string> workloads() {
    std::vector<std::string> names;
    const auto folder = std::filesystem::path(NVDEBUG_MODEL_DATA) / "workloads";
    for (const auto &file : std::filesystem::directory_iterator(folder))
        if (const std::string name = file.path().stem(); name != "many" && name != "many-1000")
            names.push_back(name);
    return names;
}

class DriverOn : public testing::TestWithParam<const char *> {
  protected:
    /// Calls `check` for each workload that fits the board.
    void for_each_workload(const std::function<void(Started &, const Json &layout)> &check) {
        for (const std::string &name : workloads()) {
            SCOPED_TRACE(name);
            try {
                static_cast<void>(make_plan(workload(name), board(GetParam())));
            } catch (const ConfigError &) {
                continue; // it does not fit the board
            }
            Started started(GetParam(), name);
            check(started, started.ask("layout"));
            started.bench.expect_no_violations();
        }
    }
};

TEST_P(DriverOn, InstanceBlocksAreAsTheLayoutSays) {
    for_each_workload([](Started &started, const Json &layout) {
        ASSERT_TRUE(layout["ok"]);
        const bool subcontexts_exist = started.generation().subcontexts;
        for (const Json &channel : layout["channels"]) {
            const PhysicalAddress at = place(channel["instance"]);
            const auto word = [&](unsigned n) { return started.word(at, 4ULL * n); };
            const Json &directory = channel["page_directory"];
            EXPECT_EQ(join(word(pdb_hi), word(pdb_lo) & 0xfffff000), number(directory["address"]));
            EXPECT_EQ(word(pdb_lo) & 3, static_cast<unsigned>(aperture(directory["aperture"])));
            EXPECT_EQ(word(pdb_lo) >> 2 & 1, directory["volatile"] ? 1U : 0U);
            EXPECT_EQ(word(pdb_lo) >> 10 & 1, channel["page_tables"] == 2 ? 1U : 0U);
            if (!channel["target_engine"].is_null()) {
                EXPECT_EQ(word(fc_target) & 0x1f, channel["target_engine"]);
            }
            if (!channel["engine_context"].is_null()) {
                EXPECT_EQ(word(engine_wfi_lo) & 7, 4U) << "virtual";
                EXPECT_EQ(join(word(engine_wfi_hi), word(engine_wfi_lo) & 0xfffff000),
                          number(channel["engine_context"]["address"]));
            } else {
                EXPECT_EQ(word(engine_wfi_lo), 0U);
            }
            ASSERT_EQ(channel["veid"].is_null(), !subcontexts_exist);
            if (!subcontexts_exist)
                continue;
            EXPECT_EQ(word(engine_wfi_veid), channel["veid"]);
            EXPECT_EQ(word(pasid) & 0xfffff, channel["pasid"]);
            EXPECT_EQ(word(pasid) >> 31, channel["ats"] ? 1U : 0U);
            ASSERT_EQ(
                channel["subcontexts"].size(),
                std::size_t(std::popcount(word(sc_valid_0)) + std::popcount(word(sc_valid_0 + 1))));
            for (const Json &entry : channel["subcontexts"]) {
                const unsigned n = sc_pdb + 4 * entry["veid"].get<unsigned>();
                EXPECT_EQ(join(word(n + 1), word(n) & 0xfffff000), number(entry["address"]));
                EXPECT_EQ(word(n) & 0xc00, 0xc00U) << "drivers set both whatever the version";
                EXPECT_EQ(word(n + 2) & 0xfffff, entry["pasid"]);
            }
            const Json &own = channel["subcontexts"][channel["veid"].get<unsigned>()];
            EXPECT_EQ(own["address"], directory["address"])
                << "other engines use the subcontext's own directory";
        }
    });
}

TEST_P(DriverOn, ChannelsOfATsgHaveTheSameTable) {
    for_each_workload([](Started &, const Json &layout) {
        std::map<std::pair<unsigned, unsigned>, Json> tables;
        for (const Json &channel : layout["channels"]) {
            if (channel["tsg"].is_null())
                continue;
            const auto [found, first] =
                tables.try_emplace({channel["runlist"], channel["tsg"]}, channel["subcontexts"]);
            EXPECT_EQ(found->second, channel["subcontexts"]);
        }
    });
}

TEST_P(DriverOn, EveryMappingIsInTheTables) {
    for_each_workload([](Started &started, const Json &layout) {
        unsigned mappings = 0;
        std::map<std::string, Json> channel_of; // by page directory
        for (const Json &channel : layout["channels"])
            channel_of.emplace(channel["page_directory"].dump(), channel);
        for (const auto &[directory, channel] : channel_of)
            for (const Json &space : layout["address_spaces"]) {
                if (space["page_directory"]["address"] != channel["page_directory"]["address"])
                    continue;
                for (const Json &mapping : space["mappings"]) {
                    ++mappings;
                    const std::uint64_t size = mapping["page_size"];
                    const auto page = started.walk(channel, number(mapping["va"]) + size - 1).page;
                    ASSERT_TRUE(page) << mapping;
                    EXPECT_EQ(page->at.address, number(mapping["address"]) + size - 1);
                    EXPECT_EQ(mmu::name_of(page->at.aperture), mapping["aperture"]);
                    EXPECT_EQ(page->page_size, size);
                }
            }
        EXPECT_GT(mappings, 0U);
    });
}

TEST_P(DriverOn, EnginePointersLeadToContexts) {
    using namespace regs::ctxsw;
    for_each_workload([](Started &started, const Json &layout) {
        const ContextTraits &traits = started.generation().context;
        for (const Json &channel : layout["channels"]) {
            if (channel["context"].is_null())
                continue;
            const Json &context = channel["context"];
            const auto header =
                started.walk(channel, number(channel["engine_context"]["address"])).page;
            ASSERT_TRUE(header);
            EXPECT_EQ(header->at.address, number(context["header"]["address"]));
            EXPECT_EQ(started.word(*local(header->at), magic), magic_value);
            auto image = header;
            if (traits.veid_headers) {
                EXPECT_EQ(started.word(*local(header->at), ctl) & 0x3f, type_per_veid_header);
                const std::uint64_t va =
                    join(started.word(*local(header->at), context_buffer_ptr_hi),
                         started.word(*local(header->at), context_buffer_ptr));
                EXPECT_EQ(va, number(context["image_va"]));
                image = started.walk(channel, va).page;
                ASSERT_TRUE(image);
            }
            const PhysicalAddress at = *local(image->at);
            EXPECT_EQ(at.address, number(context["image"]["address"]));
            EXPECT_EQ(started.word(at, magic), magic_value);
            EXPECT_EQ(started.word(at, traits.header_bytes + magic), local_magic_value);
            EXPECT_EQ(started.word(at, context_id), context["id"]);
            EXPECT_EQ(started.word(at, num_save), context["saves"]);
            EXPECT_EQ(context["type"].is_null(), !traits.typed);
            EXPECT_EQ(context["cta_saves"].is_null(), !traits.preemption_modes);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Boards, DriverOn, testing::ValuesIn(boards), test_name);

TEST(Driver, StructuresOfAWorkloadLieCloseTogether) {
    for (const char *name : boards) {
        Started started(name, "fig6");
        const Json layout = started.ask("layout");
        std::set<std::uint64_t> places;
        for (const Json &channel : layout["channels"]) {
            places.insert(number(channel["instance"]["address"]) >> 20);
            places.insert(number(channel["page_directory"]["address"]) >> 20);
            places.insert(number(channel["context"]["header"]["address"]) >> 20);
            places.insert(number(channel["context"]["image"]["address"]) >> 20);
        }
        EXPECT_LE(places.size(), 2U) << name;
    }
}

TEST(Driver, Figure7IsAnMpsServer) {
    Started started("a100", "fig7");
    const Json layout = started.ask("layout");
    const std::map<unsigned, unsigned> veid{{2, 0}, {3, 1}, {4, 1}, {5, 2}, {6, 2}};
    std::set<std::string> contexts;
    for (const Json &channel : layout["channels"]) {
        contexts.insert(channel["context"]["image"]["address"]);
        if (channel["tsg"] == 0) {
            EXPECT_EQ(channel["subcontexts"].size(), 1U);
            continue;
        }
        EXPECT_EQ(channel["subcontexts"].size(), 3U);
        EXPECT_EQ(channel["veid"], veid.at(channel["channel"]));
    }
    EXPECT_EQ(contexts.size(), 2U) << "one context for the server and its clients";
}

TEST(Driver, ManyClientsFillATsg) {
    Started started("titan-v", "mps-many");
    const Json layout = started.ask("layout");
    ASSERT_EQ(layout["channels"].size(), 128U);
    EXPECT_EQ(layout["channels"][127]["subcontexts"].size(), 16U);
    EXPECT_EQ(layout["channels"][127]["veid"], 15);
}

TEST(Driver, ModesOfPreemption) {
    using namespace regs::ctxsw;
    Started started("titan-v", "preemption");
    const Json layout = started.ask("layout");
    const auto image = [&](std::size_t n) {
        return place(layout["channels"][n]["context"]["image"]);
    };
    const auto pointer = [&](std::size_t n) {
        return join(started.word(image(n), full_preemption_ptr_hi),
                    started.word(image(n), full_preemption_ptr));
    };
    EXPECT_EQ(layout["channels"][0]["context"]["compute_preemption"], "WFI");
    EXPECT_EQ(pointer(0), 0U);
    EXPECT_EQ(layout["channels"][1]["context"]["compute_preemption"], "CTA");
    EXPECT_EQ(layout["channels"][1]["context"]["id"], 17);
    EXPECT_EQ(pointer(1), 0U);
    EXPECT_EQ(layout["channels"][3]["context"]["compute_preemption"], "CILP");
    EXPECT_TRUE(started.walk(layout["channels"][3], pointer(3) << 8).page);
    EXPECT_TRUE(layout["channels"][3]["privileged"]);
    EXPECT_EQ(layout["channels"][4]["context"]["graphics_preemption"], "GFXP");
    EXPECT_EQ(layout["channels"][4]["context"]["type"], "opengl");
    EXPECT_NE(pointer(4), 0U);
    EXPECT_TRUE(layout["channels"][5]["context"].is_null()) << "a copy engine has none";
    EXPECT_TRUE(layout["channels"][5]["engine_context"].is_null());
}

TEST(Driver, PascalTakesVersion1AndBigPagesOf128KiBToo) {
    Started started("gtx1060-3gb", "page-tables");
    const Json layout = started.ask("layout");
    for (const Json &channel : layout["channels"]) {
        const std::string task = channel["task"];
        EXPECT_EQ(channel["page_tables"], task == "older" ? 1 : 2) << task;
        EXPECT_EQ(channel["big_page_kib"], task == "older" || task == "wide" ? 128 : 64) << task;
    }
}

TEST(Driver, AddressSpacesInSystemMemory) {
    Started started("titan-v", "page-tables");
    const Json layout = started.ask("layout");
    for (const Json &space : layout["address_spaces"]) {
        const bool system = space["name"] == "system";
        EXPECT_EQ(space["page_directory"]["aperture"], system ? "coh" : "vid");
    }
    EXPECT_EQ(layout["channels"][2]["pasid"], 4242);
    EXPECT_TRUE(layout["channels"][2]["ats"]);
    EXPECT_TRUE(layout["channels"][2]["page_directory"]["volatile"]);
}

TEST(TranslateRequest, WalksAsTheMmu) {
    Started started("a100", "fig6");
    const Json layout = started.ask("layout");
    const Json &space = layout["address_spaces"][0];
    const std::string root = space["page_directory"]["address"];
    const auto ask = [&](const std::string &va) {
        return started.ask("translate " + root + " vid v2 " + va);
    };
    for (const Json &mapping : space["mappings"]) {
        const Json reply = ask(mapping["va"]);
        EXPECT_TRUE(reply["mapped"]);
        EXPECT_EQ(reply["address"], mapping["address"]);
        EXPECT_EQ(reply["aperture"], mapping["aperture"]);
        EXPECT_EQ(reply["page_size"], mapping["page_size"]);
    }
    EXPECT_EQ(ask("0x10"),
              (Json{{"ok", true}, {"mapped", false}, {"why", "a directory entry is invalid"}}));
    EXPECT_EQ(ask("0x2000000000000")["why"], "the address is beyond the format's");
    EXPECT_EQ(ask("0x120a00000")["why"], "sparse");
    EXPECT_EQ(ask("x")["error"], "\"x\" is not an address");
    EXPECT_EQ(started.ask("translate 0x0 vid v2")["error"], "expected 4 arguments, got 3");
    EXPECT_EQ(started.ask("translate 0x0 peer v2 0")["ok"], false);
    EXPECT_EQ(started.ask("translate 0x0 vid v3 0 128k")["error"],
              "version 3 has no pages of 128 KiB");
    EXPECT_EQ(started.ask("translate 0x0 vid v1 0 128k")["mapped"], false);
}

TEST(LayoutRequest, NeedsAStart) {
    Bench bench("a100", "fig6");
    Requests requests(bench.gpu, Catalog(NVDEBUG_MODEL_DATA));
    EXPECT_EQ(Json::parse(requests.answer("layout"))["error"], "the workload is not started");
}

TEST(AddressSpaceWishes, FaultsAreNamed) {
    const std::string entries = R"({"task":"a","engine":"GR0","channels":[{}]})";
    const auto error = [&](const std::string &spaces) {
        return config_error([&] {
            Started("titan-v", workload_of(entries, R"("address_spaces":)" + spaces + ","));
        });
    };
    EXPECT_EQ(error(R"({"b":{}})"), "test.json: /address_spaces/b: no TSG has this address space");
    EXPECT_EQ(error(R"({"a":{"big_page":"4k"}})"),
              "test.json: /address_spaces/a/big_page: expected 64k or 128k");
    EXPECT_EQ(error(R"({"a":{"mappings":[{"va":"0x1000","pages":2},{"va":"0x2000"}]}})"),
              "test.json: /address_spaces/a/mappings/1: virtual address 0x2000 is in use");
    EXPECT_EQ(error(R"({"a":{"mappings":[{"va":"0x1000","page":"64k"}]}})"),
              "test.json: /address_spaces/a/mappings/0: virtual address 0x1000 is not a multiple "
              "of its page's size");
    EXPECT_EQ(error(R"({"a":{"mappings":[{"va":0,"sparse":true,"aperture":"vid"}]}})"),
              "test.json: /address_spaces/a/mappings/0: a sparse range has neither \"aperture\" "
              "nor \"address\"");
    EXPECT_EQ(config_error([] {
                  Started("gtx980",
                          workload_of(R"({"task":"a","engine":"GR0","compute_preemption":"CTA",
                                      "channels":[{}]})"));
              }),
              "test.json: /entries/0: board gtx980 has no modes of preemption");
}

} // namespace
} // namespace nvmodel::test
