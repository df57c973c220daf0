// SPDX-License-Identifier: MIT OR GPL-2.0
// Workload files, and fitting them to boards.
#include "support.hpp"

#include "workload/plan.hpp"

#include <algorithm>
#include <filesystem>

namespace nvmodel::test {
namespace {

Plan plan(const std::string &board_name, const std::string &entries) {
    return make_plan(workload_of(entries), board(board_name));
}

TEST(TimesliceEncoding, LargestThatDoesNotExceed) {
    EXPECT_EQ(encode_timeslice(2'000'000), (Timeslice{244, 3}));
    EXPECT_EQ((Timeslice{244, 3}.duration()), 1'998'848);
    EXPECT_EQ(encode_timeslice(1'048'576), (Timeslice{128, 3}));
    EXPECT_EQ(encode_timeslice(1'024'000), (Timeslice{250, 2}));
    EXPECT_EQ(encode_timeslice(1'024), (Timeslice{1, 0}));
    EXPECT_EQ(encode_timeslice(1), (Timeslice{1, 0})) << "at least a unit";
    EXPECT_EQ(encode_timeslice(60'000'000'000), (Timeslice{255, 15}));
}

TEST(TimesliceEncoding, ZeroIsOneUnit) {
    EXPECT_EQ((Timeslice{0, 0}.duration()), 1'024);
    EXPECT_EQ((Timeslice{0, 9}.duration()), 1'024);
    EXPECT_EQ((Timeslice{255, 15}.duration()), 8'556'380'160);
}

TEST(Workloads, EachFitsTheBoardsItIsFor) {
    const auto is_for = [](const std::string &name, const Board &board) {
        if (name == "fig7" || name == "mps-many")
            return board.generation->subcontexts;
        if (name == "preemption")
            return board.generation->context.preemption_modes;
        if (name == "same-ids")
            return board.ids_per_runlist();
        if (name == "low" || name == "bars")
            return board.generation->has_video_memory();
        if (name == "many")
            return board.channels >= 2000;
        if (name == "many-1000")
            return board.channels >= 1000;
        return name != "copies" || board.name != "a100"; // no PCE for its GRCEs
    };
    unsigned files = 0;
    const auto folder = std::filesystem::path(NVDEBUG_MODEL_DATA) / "workloads";
    for (const auto &file : std::filesystem::directory_iterator(folder)) {
        const std::string name = file.path().stem();
        ++files;
        for (const char *board_name : boards) {
            const Board to = board(board_name);
            const Workload work = load_workload(file.path());
            EXPECT_EQ(work.name, name);
            if (is_for(name, to))
                EXPECT_NO_THROW(make_plan(work, to)) << name << board_name;
            else
                EXPECT_THROW(make_plan(work, to), ConfigError) << name << board_name;
        }
    }
    EXPECT_EQ(files, 18U);
}

TEST(Workloads, ThreeTasksIsFigure4) {
    for (const char *name : boards) {
        const Plan three = make_plan(workload("three-tasks"), board(name));
        ASSERT_EQ(three.lists.size(), 1U);
        ASSERT_EQ(three.tsgs.size(), 3U);
        for (unsigned tsg = 0; tsg < 3; ++tsg) {
            EXPECT_EQ(three.tsgs[tsg].id, tsg);
            EXPECT_EQ(three.tsgs[tsg].timeslice, (Timeslice{244, 3}));
            ASSERT_EQ(three.tsgs[tsg].channels.size(), 2U);
            for (unsigned i = 0; i < 2; ++i) {
                const PlannedChannel &channel = three.channels[three.tsgs[tsg].channels[i]];
                EXPECT_EQ(channel.id, 2 * tsg + i);
                EXPECT_EQ(channel.work.kind, Work::Kind::busy);
            }
        }
    }
}

TEST(Workloads, ManyHaveTheirSizes) {
    const std::map<std::string, std::pair<std::size_t, std::size_t>> sizes{
        {"many", {250, 2000}}, {"many-1000", {125, 1000}}, {"many-500", {63, 500}}};
    for (const auto &[name, size] : sizes) {
        const Plan many = make_plan(workload(name), board("gtx1060-3gb"));
        EXPECT_EQ(many.tsgs.size(), size.first);
        EXPECT_EQ(many.channels.size(), size.second);
    }
}

TEST(Planning, IdsAreTheLowestFree) {
    const std::string entries = R"(
        {"task":"a","engine":"GR0","channels":[{},{"id":1},{}]},
        {"task":"b","engine":"LCE2","id":0,"channels":[{"id":0},{}]})";
    const Plan global = plan("titan-v", entries);
    EXPECT_EQ(global.tsgs[0].id, 1U);
    EXPECT_EQ(global.tsgs[1].id, 0U);
    std::vector<unsigned> ids;
    std::ranges::transform(global.channels, std::back_inserter(ids), &PlannedChannel::id);
    EXPECT_EQ(ids, (std::vector<unsigned>{2, 1, 3, 0, 4}));
    const Plan per_runlist = plan("a100", entries);
    EXPECT_EQ(per_runlist.tsgs[0].id, 0U);
    ids.clear();
    std::ranges::transform(per_runlist.channels, std::back_inserter(ids), &PlannedChannel::id);
    EXPECT_EQ(ids, (std::vector<unsigned>{0, 1, 2, 0, 1}));
}

TEST(Planning, RepeatsAreNumbered) {
    const Plan repeated =
        plan("titan-v", R"({"repeat":3,"task":"t{n}","engine":"GR0","channels":[{"repeat":2}]})");
    ASSERT_EQ(repeated.tsgs.size(), 3U);
    EXPECT_EQ(repeated.tsgs[2].task, "t2");
    EXPECT_EQ(repeated.channels[5].address_spaces, (std::vector<std::string>{"t2"}));
    EXPECT_EQ(repeated.tsgs[1].channels, (std::vector<std::size_t>{2, 3}));
}

TEST(Planning, FirstAsyncCopyEngineHasAPhysicalOne) {
    const std::string entries =
        R"({"task":"a","engine":"first-async-lce","channels":[{"work":"busy"}]})";
    const std::map<std::string, unsigned> runlists{
        {"gtx1060-3gb", 5}, {"titan-v", 6}, {"rtx2080ti", 8}, {"a100", 1}, {"rtx6000-ada", 1}};
    for (const auto &[name, runlist] : runlists)
        EXPECT_EQ(plan(name, entries).tsgs[0].runlist, runlist) << name;
}

TEST(Planning, CopyEnginesByTheirPlaceWhereTheyArePhysical) {
    const std::string entries = R"(
        {"task":"graphics","engine":"GRCE0","channels":[{"work":"busy"}]},
        {"task":"first","engine":"LCE2","channels":[{"work":"busy"}]},
        {"task":"second","engine":"LCE3","channels":[{"work":"busy"}]},
        {"task":"any","engine":"first-async-lce","channels":[{"work":"busy"}]},
        {"task":"named","engine":"COPY1","channels":[{"work":"busy"}]})";
    for (const char *name : {"quadro-k5000", "gtx980"}) {
        const Plan physical = plan(name, entries);
        std::vector<std::string> engines;
        std::vector<unsigned> runlists;
        for (const PlannedChannel &channel : physical.channels) {
            engines.push_back(to_string(channel.engine));
            runlists.push_back(channel.runlist);
        }
        EXPECT_EQ(engines, (std::vector<std::string>{"COPY2", "COPY0", "COPY1", "COPY0", "COPY1"}));
        EXPECT_EQ(runlists, (std::vector<unsigned>{0, 4, 5, 4, 5}));
    }
    for (const char *engine : {"GRCE1", "LCE4"})
        EXPECT_EQ(config_error([&] {
                      plan("quadro-k5000",
                           std::string(R"({"task":"a","channels":[{}],"engine":")") + engine +
                               "\"}");
                  }),
                  "test.json: /entries/0/engine: board quadro-k5000 has no engine " +
                      to_string(parse_engine_name(engine).value()));
    EXPECT_EQ(
        config_error([] { plan("titan-v", R"({"task":"a","engine":"COPY0","channels":[{}]})"); }),
        "test.json: /entries/0/engine: board titan-v has no engine COPY0");
}

TEST(Planning, MisfitsAreNamed) {
    const std::map<std::string, std::string> errors{
        {R"({"task":"a","engine":"NVDEC3","channels":[{}]})",
         "test.json: /entries/0/engine: board titan-v has no engine NVDEC3"},
        {R"({"task":"a","engine":"GR0","channels":[{"id":5},{"id":5}]})",
         "test.json: /entries/0/channels/1: channel id 5 is used twice; on board titan-v ids are "
         "global"},
        {R"({"task":"a","engine":"GR0","id":7,"channels":[{}]},
            {"task":"b","engine":"GR0","id":7,"channels":[{}]})",
         "test.json: /entries/1: TSG id 7 is used twice; on board titan-v ids are global"},
        {R"({"task":"a","engine":"GR0","channels":[{"engine":"LCE2"}]})",
         "test.json: /entries/0/channels/0: LCE2 of board titan-v is not on the runlist of GR0"},
        {R"({"task":"a","engine":"GR0","channels":[{"subcontext":1}]})",
         "test.json: /entries/0/channels/0: the TSG has no address space for that subcontext"},
        {R"({"task":"a","engine":"GR0","channels":[]})",
         "test.json: /entries/0: a TSG has 1 to 128 channels on board titan-v"},
        {R"({"task":"a","engine":"GR0","channels":[{"repeat":129}]})",
         "test.json: /entries/0: a TSG has 1 to 128 channels on board titan-v"},
        {R"({"repeat":4096,"task":"a","engine":"GR0","channels":[{},{}]})",
         "test.json: /entries/0/channels/0: channel id 4096 is not below the board's 4096"},
        {R"({"kind":"again","task":"a"})",
         "test.json: /entries/0: no TSG above has the task \"a\""},
    };
    for (const auto &[entries, expected] : errors)
        EXPECT_EQ(config_error([&, e = &entries] { plan("titan-v", *e); }), expected);
    EXPECT_EQ(
        config_error([] { plan("rtx2080ti", R"({"task":"a","engine":"GSP0","channels":[{}]})"); }),
        "test.json: /entries/0/engine: GSP0 of board rtx2080ti has no runlist");
    EXPECT_EQ(config_error([] {
                  plan("gtx1060-3gb", R"({"task":"a","engine":"GR0","channels":[{"repeat":33}]})");
              }),
              "test.json: /entries/0: a TSG has 1 to 32 channels on board gtx1060-3gb");
    EXPECT_EQ(config_error([] {
                  plan("a100", R"({"task":"a","engine":"GRCE0","channels":[{"work":"busy"}]})");
              }),
              "test.json: /entries/0/channels/0: LCE0 of board a100 has no physical copy engine, "
              "so it cannot do work");
}

TEST(WorkloadFiles, FaultsAreNamed) {
    const std::map<std::string, std::string> errors{
        {R"({"task":"a","engine":"XYZ","channels":[{}]})",
         "/entries/0/engine: not an engine's name; for example GR0, GRCE1, LCE2, first-async-lce"},
        {R"({"engine":"GR0","channels":[{}]})", "/entries/0: \"task\" is missing"},
        {R"({"task":"a","engine":"GR0","channels":[{"work":"lots"}]})",
         "/entries/0/channels/0/work: expected \"busy\", \"idle\" or an object"},
        {R"({"task":"a","engine":"GR0","channels":[{"work":{"period_us":3}}]})",
         "/entries/0/channels/0/work: \"us\" is missing"},
        {R"({"task":"a","engine":"GR0","channels":[{"work":{"us":3,"period_us":0}}]})",
         "/entries/0/channels/0/work/period_us: 0 is not within 1..1e+09"},
        {R"({"task":"a","engine":"GR0","channels":[{"id":4096}]})",
         "/entries/0/channels/0/id: 4096 is not within 0..4095"},
        {R"({"task":"a","engine":"GR0","channels":[{"id":1,"repeat":2}]})",
         "/entries/0/channels/0: \"id\" and \"repeat\" exclude each other"},
        {R"({"task":"a","engine":"GR0","repeat":2,"channels":[{"id":1}]})",
         "/entries/0: \"id\" and \"repeat\" exclude each other"},
        {R"({"task":"a","engine":"GR0","timeslice_us":1000,"timeslice":{"timeout":1,"scale":1},
             "channels":[{}]})",
         "/entries/0: \"timeslice_us\" and \"timeslice\" exclude each other"},
        {R"({"task":"a","engine":"GR0","timeslice":{"timeout":256,"scale":1},"channels":[{}]})",
         "/entries/0/timeslice/timeout: 256 is not within 0..255"},
        {R"({"task":"a","engine":"GR0","timeslice_us":1e9,"channels":[{}]})",
         "/entries/0/timeslice_us: 1e+09 is not within 1..8.55556e+06"},
        {R"({"task":"a","engine":"GR0","channels":[{"runqueue":2}]})",
         "/entries/0/channels/0/runqueue: 2 is not within 0..1"},
        {R"({"task":"a","engine":"GR0","channels":[{"fault":"mmu"}]})",
         "/entries/0/channels/0/fault: expected \"pbdma\" or \"engine\""},
        {R"({"kind":"raw","engine":"GR0","words2":[1],"words4":[1,2,3,4]})",
         "/entries/0/words2: expected 2 words"},
        {R"({"kind":"tsq","engine":"GR0"})",
         "/entries/0/kind: expected tsg, channel, again or raw"},
        {R"({"task":"a","engine":"GR0","chanels":[{}],"channels":[{}]})",
         "/entries/0: \"chanels\" is not known here"},
        {R"("GR0")", "/entries/0: expected an object"},
    };
    for (const auto &[entries, expected] : errors)
        EXPECT_EQ(config_error([e = &entries] { workload_of(*e); }), "test.json: " + expected);
    EXPECT_EQ(config_error([] { workload_of("", R"("runlist_aperture":"peer",)"); }),
              "test.json: /runlist_aperture: expected vid, coh or ncoh");
    EXPECT_EQ(config_error([] { workload_of("", R"("placement":"middle",)"); }),
              "test.json: /placement: expected \"low\" or \"high\"");
}

TEST(Workloads, SystemMemoryMustBeGiven) {
    EXPECT_EQ(config_error([] { Gpu(board("titan-v"), workload("sysmem")); }),
              "workload sysmem keeps structures in system memory; give it some with --sysmem");
}

TEST(Workloads, SystemMemoryMustBeThere) {
    Gpu gpu(board("titan-v"), workload("sysmem"), sysmem_range);
    EXPECT_EQ(config_error([&] { gpu.start(); }),
              "there is no memory at 0x10000000 (is the guest running, and does --sysmem fit it?)");
    EXPECT_FALSE(gpu.started());
    FakeMemory guest(sysmem_range.base, sysmem_range.size);
    gpu.attach(&guest);
    EXPECT_NO_THROW(gpu.start());
}

TEST(Workloads, SystemMemoryMustSuffice) {
    Gpu gpu(board("titan-v"), workload("sysmem"), SystemMemoryRange{0x10000000, 0x5000});
    FakeMemory guest(sysmem_range.base, sysmem_range.size);
    gpu.attach(&guest);
    EXPECT_EQ(config_error([&] { gpu.start(); }),
              "the workload needs more system memory than there is for it");
}

TEST(Workloads, StartTwiceIsAnError) {
    auto bench = Bench::started("titan-v", "idle");
    EXPECT_EQ(config_error([&] { bench->gpu.start(); }), "the workload was started before");
}

} // namespace
} // namespace nvmodel::test
