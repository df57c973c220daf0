// SPDX-License-Identifier: MIT OR GPL-2.0
// Compares the parsed facts with values that a person read in the golden files, file by file.
#include <gtest/gtest.h>

#include "fixture.hpp"

using namespace nvdebug;
using fixture::Board;
using fixture::value;

namespace {

TEST(Info, ReadsAnA100) {
    const Info info = value(Board("a100").gpu().info());
    EXPECT_EQ(info.chip, "GA100");
    EXPECT_EQ(info.chip_id, 0x170U);
    EXPECT_EQ(info.generation, "Ampere");
    EXPECT_EQ(info.revision, 0xa1U);
    EXPECT_EQ(info.pci_address, "0000:00:0a.0");
    EXPECT_EQ(info.pci_id, "10de:20f1");
    EXPECT_EQ(info.pci_subsystem, "10de:145f");
    EXPECT_EQ(info.pci_class, 0x030200U);
    EXPECT_EQ(info.bar_size[0], 16777216U);
    EXPECT_EQ(info.bar_size[2], 33554432U);
    EXPECT_EQ(info.driver, std::nullopt);
    EXPECT_EQ(info.channels, 2048U);
    EXPECT_EQ(info.ids_per_runlist, true);
    EXPECT_EQ(info.runlists.size(), 24U);
    EXPECT_EQ(info.runlists.back(), 23U);
    EXPECT_EQ(info.runlists_note, std::nullopt);
    EXPECT_EQ(info.page_tables, "2");
    EXPECT_EQ(info.video_memory, 42949672960U);
    ASSERT_NE(info.feature("copy_topology"), nullptr);
    EXPECT_TRUE(info.feature("copy_topology")->available);
}

TEST(Info, OlderChipsHaveLess) {
    const Info info = value(Board("quadro-k5000").gpu().info());
    EXPECT_EQ(info.ids_per_runlist, false);
    EXPECT_EQ(info.page_tables, "1");
    EXPECT_EQ(info.video_memory, std::nullopt);
    const Feature *const copy = info.feature("copy_topology");
    ASSERT_NE(copy, nullptr);
    EXPECT_FALSE(copy->available);
    EXPECT_EQ(copy->reason, "copy engines are physical: nothing to map");
    EXPECT_EQ(info.feature("teleportation"), nullptr);
    EXPECT_EQ(value(Board("gtx1060-3gb").gpu().info()).page_tables, "1 or 2");
}

TEST(Info, ReadsAnIntegratedGpu) {
    const Info info = value(Board("jetson-orin", "mixed").gpu().info());
    EXPECT_EQ(info.pci_address, std::nullopt);
    EXPECT_EQ(info.platform_device, "17200000.gpu");
    EXPECT_EQ(info.compatible, "nvidia,ga10b");
    const Info on_pci = value(Board("a100").gpu().info());
    EXPECT_EQ(on_pci.platform_device, std::nullopt);
    EXPECT_EQ(on_pci.compatible, std::nullopt);
}

constexpr const char *unknown_chip = R"(chip: unknown
chip_id: 0xfff
generation: -
revision: 0xa1
pci_address: -
pci_id: 10de:1c02
pci_subsystem: 10de:1c02
pci_class: 0x030000
bar0_size: -
bar1_size: 16777216
bar2_size: 33554432
driver: vfio-pci
channels: -
channel_ids: -
runlists: 0 3 (order of the table: DOORBELL_CONFIG unusable) (and 2 that do not tell their id)
feature runlist: no (unknown chip)
page_tables: -
video_memory: -
invented_later: 5
)";

TEST(Info, ReadsAnUnknownChip) {
    const Info info = value(parse_info(unknown_chip));
    EXPECT_EQ(info.chip, std::nullopt);
    EXPECT_EQ(info.generation, std::nullopt);
    EXPECT_EQ(info.pci_address, std::nullopt);
    EXPECT_EQ(info.bar_size[0], std::nullopt);
    EXPECT_EQ(info.driver, "vfio-pci");
    EXPECT_EQ(info.channels, std::nullopt);
    EXPECT_EQ(info.ids_per_runlist, std::nullopt);
    EXPECT_EQ(info.runlists, (std::vector<std::uint32_t>{0, 3}));
    EXPECT_EQ(info.runlists_note, "(order of the table: DOORBELL_CONFIG unusable) (and 2 that do "
                                  "not tell their id)");
    ASSERT_EQ(info.features.size(), 1U);
    EXPECT_EQ(info.features[0].reason, "unknown chip");
}

TEST(DeviceInfo, ReadsATitanV) {
    const auto engines = value(Board("titan-v").gpu().engines());
    ASSERT_EQ(engines.size(), 15U);
    const Engine &gr = engines[0];
    EXPECT_EQ(gr.name, "GR0");
    EXPECT_EQ(gr.runlist, 0U);
    EXPECT_EQ(gr.runlist_base, std::nullopt);
    EXPECT_EQ(gr.engine_id, 0U);
    EXPECT_EQ(gr.fault_id, 64U);
    EXPECT_EQ(gr.reset_id, 12U);
    EXPECT_EQ(gr.intr_id, 12U);
    EXPECT_EQ(gr.pri_base, 0x400000U);
    EXPECT_EQ(gr.pbdmas, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(engines[10].name, "NVDEC0");
    EXPECT_EQ(engines[10].fault_id, std::nullopt);
}

TEST(DeviceInfo, EnginesWithoutHost) {
    const auto engines = value(Board("a100").gpu().engines());
    const Engine &gsp = engines.back();
    EXPECT_EQ(gsp.name, "GSP0");
    EXPECT_EQ(gsp.runlist, std::nullopt);
    EXPECT_EQ(gsp.engine_id, std::nullopt);
    EXPECT_TRUE(gsp.pbdmas.empty());
}

TEST(DeviceInfo, NamesAsEnginesWritesThem) {
    const auto engines = value(parse_device_info(
        "# engine inst runlist runlist_base engine_id fault_id reset_id intr_id pri_base pbdmas "
        "new\n"
        "COPY0      0       4            -         1       21        6       5 0x104000 2 x\n"
        "TYPE-77    1       -            -         -        -        -       -        - - y\n"));
    EXPECT_EQ(engines[0].name, "COPY0");
    EXPECT_EQ(engines[1].name, "TYPE-77:1");
}

TEST(Engines, NamesAgreeWithDeviceInfo) {
    for (const std::string &board : fixture::boards()) {
        const Board on(board, "fig6");
        const auto engines = value(on.gpu().engines());
        for (const EngineState &state : value(on.gpu().engine_states())) {
            const Engine *const engine = find_engine(engines, state.engine);
            ASSERT_NE(engine, nullptr) << board << " " << state.engine;
            EXPECT_EQ(engine->runlist, state.runlist) << board << " " << state.engine;
        }
    }
}

TEST(Engines, HaveTheOccupantsOfAnA100) {
    const auto states = value(Board("a100", "fig6").gpu().engine_states());
    const EngineState &gr = states[0];
    EXPECT_EQ(gr.engine, "GR0");
    EXPECT_EQ(gr.status, "valid");
    EXPECT_EQ(gr.current, (Occupant{Occupant::Kind::tsg, 2}));
    EXPECT_EQ(gr.next, std::nullopt);
    EXPECT_EQ(gr.busy, true);
    EXPECT_EQ(gr.faulted, false);
    EXPECT_EQ(gr.channels, std::vector<std::uint32_t>{5});
    ASSERT_EQ(gr.pbdmas.size(), 2U);
    EXPECT_EQ(gr.pbdmas[0].status, "valid");
    EXPECT_EQ(gr.pbdmas[0].current, (Occupant{Occupant::Kind::tsg, 2}));
    EXPECT_EQ(gr.pbdmas[0].channel, 5U);
    EXPECT_EQ(gr.pbdmas[1].status, "invalid");
    EXPECT_EQ(gr.pbdmas[1].current, std::nullopt);
    EXPECT_EQ(gr.pbdmas[1].channel, std::nullopt);
}

constexpr const char *engines_header =
    "# engine runlist status current next busy faulted reload channel pbdmas pbdma_status "
    "pbdma_current pbdma_next pbdma_channel\n";

TEST(Engines, AreEmptyWhereRegistersAreNotPublic) {
    const auto states =
        value(parse_engines(std::string(engines_header) + "GR1 0 - - - - - - - - - - - -\n" +
                            "LCE0 0 switch channel:7 tsg:9 1 - 0 3,4 5 load channel:7 tsg:9 7\n"));
    EXPECT_EQ(states[0].status, std::nullopt);
    EXPECT_EQ(states[0].busy, std::nullopt);
    EXPECT_TRUE(states[0].pbdmas.empty());
    EXPECT_EQ(states[1].current, (Occupant{Occupant::Kind::channel, 7}));
    EXPECT_EQ(states[1].next, (Occupant{Occupant::Kind::tsg, 9}));
    EXPECT_EQ(states[1].faulted, std::nullopt);
    EXPECT_EQ(states[1].channels, (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(states[1].pbdmas[0].next, (Occupant{Occupant::Kind::tsg, 9}));
}

TEST(Contexts, ReadsMpsOnATitanV) {
    const auto uses = value(Board("titan-v", "fig7").gpu().address_spaces());
    ASSERT_EQ(uses.size(), 4U);
    EXPECT_FALSE(uses[0].shared);
    EXPECT_TRUE(uses[3].shared);
    EXPECT_EQ(uses[3].tsg, 1U);
    EXPECT_EQ(uses[3].spaces, 3U);
    EXPECT_EQ(uses[3].page_directory, (Place{0x02fc01e000, Aperture::video}));
    EXPECT_EQ(uses[3].veid, 2U);
    EXPECT_EQ(uses[3].channels, (std::vector<std::uint32_t>{5, 6}));
    EXPECT_EQ(uses[3].error, std::nullopt);
}

constexpr const char *contexts_header =
    "# runlist tsg shared spaces page_directory aperture veid channels error\n";

TEST(Contexts, ReadsUnreadableAndHiddenSpaces) {
    const auto uses =
        value(parse_contexts(std::string(contexts_header) + "0 1 yes 2 hidden vid 0 2 -\n"
                                                            "0 1 yes 2 hidden coh - 3 -\n"
                                                            "0 1 - - - - - 4,5 not-bound\n"
                                                            "0 - - - - - - 9 not-bound\n"
                                                            "1 - - - - - - - unreadable\n"));
    EXPECT_EQ(uses[0].page_directory, (Place{std::nullopt, Aperture::video}));
    EXPECT_EQ(uses[1].veid, std::nullopt);
    EXPECT_TRUE(uses[2].shared);
    EXPECT_EQ(uses[2].spaces, 2U);
    EXPECT_EQ(uses[2].page_directory, Place{});
    EXPECT_EQ(uses[2].error, "not-bound");
    EXPECT_EQ(uses[3].tsg, std::nullopt);
    EXPECT_EQ(uses[3].spaces, 0U);
    EXPECT_EQ(uses[4].runlist, 1U);
    EXPECT_EQ(uses[4].tsg, std::nullopt);
    EXPECT_TRUE(uses[4].channels.empty());
    EXPECT_EQ(uses[4].error, "unreadable");
}

TEST(RunlistFile, ReadsATitanV) {
    const Runlist list = value(Board("titan-v", "fig6").gpu().runlist(0));
    EXPECT_EQ(list.id, 0U);
    EXPECT_EQ(list.entries, 9U);
    EXPECT_EQ(list.tsgs, 3U);
    EXPECT_EQ(list.channels, 6U);
    EXPECT_FALSE(list.pending);
    EXPECT_EQ(list.place, (Place{0x2fc000000, Aperture::video}));
    EXPECT_FALSE(list.torn);
    ASSERT_EQ(list.items.size(), 3U);

    const Tsg &tsg = std::get<Tsg>(list.items[2]);
    EXPECT_EQ(tsg.id, 2U);
    EXPECT_EQ(tsg.scale, 3U);
    EXPECT_EQ(tsg.timeout, 244U);
    EXPECT_EQ(tsg.timeslice_ns, 1998848U);
    EXPECT_EQ(tsg.length, 2U);
    EXPECT_FALSE(tsg.truncated);
    ASSERT_EQ(tsg.channels.size(), 2U);

    const Channel &channel = tsg.channels[0];
    EXPECT_EQ(channel.id, 4U);
    EXPECT_EQ(channel.enabled, true);
    EXPECT_EQ(channel.next, false);
    // The model's clock decides which of the two is on the engine at that moment.
    const bool first_runs = tsg.channels[1].status_name != "ON_PBDMA_AND_ENG";
    EXPECT_EQ(channel.status, first_runs ? 6U : 9U);
    EXPECT_EQ(channel.busy, true);
    EXPECT_EQ(channel.status_name, first_runs ? "ON_PBDMA_AND_ENG" : "ON_ENG_PENDING");
    EXPECT_EQ(channel.bound, true);
    EXPECT_EQ(channel.runqueue, 0U);
    EXPECT_EQ(channel.on_pbdma, std::nullopt);
    EXPECT_EQ(channel.instance_place, (Place{0x2fc008000, Aperture::video}));

    ASSERT_TRUE(channel.instance);
    const InstanceBlock &block = *channel.instance;
    EXPECT_EQ(block.page_tables, 2U);
    EXPECT_EQ(block.big_page_size_kib, 64U);
    EXPECT_EQ(block.page_directory, (Place{0x02fc017000, Aperture::video}));
    EXPECT_EQ(block.page_directory_volatile, false);
    EXPECT_EQ(block.va_limit, 0x1ffffffffffffU);
    EXPECT_EQ(block.target_engine, 0U);
    EXPECT_EQ(block.privileged, false);
    EXPECT_EQ(block.veid, 0U);
    EXPECT_EQ(block.engine_wfi, (Place{0x00000120004000, Aperture::video}));
    EXPECT_EQ(block.engine_wfi_mode, "virtual");
    EXPECT_EQ(block.subcontext_count, 1U);
    ASSERT_EQ(block.subcontexts.size(), 1U);
    EXPECT_EQ(block.subcontexts[0].page_directory, (Place{0x02fc017000, Aperture::video}));
    EXPECT_EQ(block.subcontexts[0].ats, false);
    EXPECT_EQ(block.context_note, std::nullopt);
    ASSERT_TRUE(block.context);
    EXPECT_EQ(block.context->id, 3U);
    EXPECT_EQ(block.context->type, "compute");
    EXPECT_EQ(block.context->compute_preemption, "CTA");
    EXPECT_EQ(block.context->restores, 1U);
    EXPECT_EQ(block.context->image, 0x120000000U);
    EXPECT_EQ(block.context->image_place, (Place{0x02fc029000, Aperture::video}));

    const InstanceBlock &second = *tsg.channels[1].instance;
    EXPECT_EQ(second.subcontexts_as_channel, 4U);
    EXPECT_EQ(second.subcontext_count, std::nullopt);
    EXPECT_EQ(second.context_as_channel, 4U);
    EXPECT_FALSE(second.context);
}

TEST(RunlistFile, ReadsNewerChannels) {
    const Runlist list = value(Board("b200", "mixed").gpu().runlist(0, Detail::brief));
    const auto channels = channels_of(list);
    ASSERT_EQ(channels.size(), 8U); // three of its eleven entries are second ones of TSG 10
    EXPECT_EQ(channels[0].entries, 2U);
    const Channel &channel = *channels[1].channel;
    EXPECT_EQ(channel.id, 21U);
    EXPECT_EQ(channel.on_pbdma, true);
    EXPECT_EQ(channel.on_engine, true);
    EXPECT_EQ(channel.engine_busy, true);
    EXPECT_EQ(channel.acquire_fail, false);
    EXPECT_EQ(channel.runqueue, 1U);
    EXPECT_EQ(channel.status, std::nullopt);
    EXPECT_EQ(channel.bound, std::nullopt);
    EXPECT_FALSE(channel.instance);
    ASSERT_NE(channels[1].tsg, nullptr);
    EXPECT_EQ(channels[1].tsg->id, 10U);
}

TEST(RunlistFile, ReadsBrieflyFromTheWholeListIfNeeded) {
    const Board board("titan-v", "fig6");
    ASSERT_FALSE(board.gpu().tree().read("gpu0/runlist0_brief"));
    EXPECT_EQ(value(board.gpu().runlist(0, Detail::brief)).tsgs, 3U);
    const auto missing = board.gpu().runlist(99, Detail::brief);
    ASSERT_FALSE(missing);
    EXPECT_TRUE(missing.error().sentence.starts_with("gpu0 (GV100) has no runlist 99; it has 0-"));
}

TEST(RunlistFile, ReadsOlderChannels) {
    const Runlist list = value(Board("quadro-k5000", "fig6").gpu().runlist(0));
    const Channel &channel = *channels_of(list)[0].channel;
    EXPECT_EQ(channel.pbdma_faulted, std::nullopt);
    EXPECT_EQ(channel.runqueue, std::nullopt);
    ASSERT_TRUE(channel.instance);
    EXPECT_EQ(channel.instance->page_tables, 1U);
    EXPECT_EQ(channel.instance->subcontext_count, std::nullopt);
    EXPECT_EQ(channel.instance->veid, std::nullopt);
    ASSERT_TRUE(channel.instance->context);
    EXPECT_EQ(channel.instance->context->type, std::nullopt);
    EXPECT_EQ(channel.instance->context->cilp_saves, std::nullopt);
}

TEST(RunlistFile, Empty) {
    const Runlist list = value(Board("titan-v").gpu().runlist(1));
    EXPECT_EQ(list.entries, 0U);
    EXPECT_EQ(list.tsgs, 0U);
    EXPECT_EQ(list.place, (Place{std::nullopt, Aperture::video}));
    EXPECT_TRUE(list.items.empty());
}

TEST(RunlistFile, ReadsAListInSystemMemory) {
    EXPECT_EQ(value(Board("a100", "sysmem").gpu().runlist(0, Detail::brief)).place,
              (Place{0x11800000, Aperture::coherent}));
}

TEST(Copy, WiringOfAnAda) {
    const CopyTopology copy = value(Board("rtx6000-ada").gpu().copy_topology());
    EXPECT_EQ(copy.pce_map, 0x3fU);
    ASSERT_EQ(copy.lces.size(), 5U);
    EXPECT_EQ(copy.lces[0].name, "LCE0");
    EXPECT_EQ(copy.lces[0].pces, 0U);
    EXPECT_EQ(copy.lces[0].shares, "LCE3");
    EXPECT_EQ(copy.lces[4].runlist, 3U);
    EXPECT_EQ(copy.lces[4].pces, 1U);
    EXPECT_EQ(copy.lces[4].shares, std::nullopt);
}

TEST(Topology, ReadsAnAda) {
    const GpcTopology topology = value(Board("rtx6000-ada").gpu().gpc_topology());
    EXPECT_EQ(topology.num_gpcs, 12U);
    EXPECT_EQ(topology.num_tpc_per_gpc, 6U);
    EXPECT_EQ(topology.num_ces, 5U);
    EXPECT_EQ(topology.gpc_off_mask, 0U);
    ASSERT_EQ(topology.gpcs.size(), 12U);
    EXPECT_FALSE(topology.gpcs[11].off);
    EXPECT_EQ(topology.gpcs[11].tpc_off_mask, 0x20U);
    EXPECT_EQ(topology.sms, std::nullopt);
    EXPECT_NE(topology.sms_note->find("is not public"), std::string::npos) << *topology.sms_note;
}

TEST(Topology, ReadsAnA100) {
    const Board board("a100");
    const GpcTopology topology = value(board.gpu().gpc_topology());
    EXPECT_TRUE(topology.gpcs[7].off);
    EXPECT_EQ(topology.gpcs[7].tpc_off_mask, 0xffU);
    ASSERT_TRUE(topology.sms);
    EXPECT_EQ(topology.sms->size(), 108U);
    EXPECT_EQ(topology.sms->at(10).gpc, 6U);
    EXPECT_EQ(topology.sms->at(10).tpc, 6U);
    EXPECT_EQ(topology.sms_note, std::nullopt);

    const WorkDistributor work = value(board.gpu().work_distributor());
    EXPECT_EQ(work.gpcs, 7U);
    EXPECT_EQ(work.tpcs, 54U);
    EXPECT_EQ(work.partitioning, "none");
    EXPECT_EQ(work.table, "none");
    EXPECT_EQ(work.veid_offset, 0U);
    EXPECT_EQ(work.gpc_tpc_id.size(), 16U);
    EXPECT_EQ(work.gpc_tpc_id[0], 0x17273747U);
    EXPECT_EQ(work.sm_id[15], 0U);
}

TEST(Topology, LeavesUnknownNumbersEmpty) {
    const GpcTopology topology = value(Board("quadro-k5000").gpu().gpc_topology());
    EXPECT_EQ(topology.num_ltcs, std::nullopt);
    EXPECT_TRUE(topology.num_gpcs);
}

TEST(Numbers, AreReadFromFiles) {
    const Board board("a100");
    EXPECT_EQ(value(board.gpu().local_memory_bytes()), 42949672960U);
    board.folder().write("gpu0/ptimer", "1754000000123456789\n");
    EXPECT_EQ(value(board.gpu().ptimer_ns()), 1754000000123456789U);
    EXPECT_EQ(value(parse_number("0xffffffffffffffff\n")), 0xffffffffffffffffU);
}

TEST(Scheduling, IsReadByRunlist) {
    const auto all = value(Board("a100").gpu().scheduling());
    EXPECT_EQ(all.size(), 24U);
    EXPECT_TRUE(all.at(23));
    const auto rest = value(parse_scheduling("# runlist scheduling\n0 on\n3 unreadable\n5 off\n"));
    EXPECT_EQ(rest, (std::map<std::uint32_t, bool>{{0, true}, {5, false}}));
    const auto some = value(parse_scheduling("# runlist scheduling\n0 on\n5 off\n"));
    EXPECT_TRUE(some.at(0));
    EXPECT_FALSE(some.at(5));
}

TEST(TranslationAnswer, HasTheResultOfAWalk) {
    const Translation walk = value(parse_translation(
        R"(virtual_address: 0x123456789abcd
page_directory: 0x200100000 vid
page_tables: 2
PD3[2]: 0x200100010 vid 0x0000000020010102 table 0x200101000 vid
PD0[60]: 0x1f00033c0 coh 0x00000000200105020000000020010412 big 0x200104100 vid small 0x200105000 vid
PT4K[154]: 0x2001054d0 vid 0x000000007f65430d page 0x7f6543000 peer
result: 0x7f6543bcd peer
page_size: 4096
flags: volatile kind=6 peer=1
error: -
)"));
    EXPECT_EQ(walk.virtual_address, 0x123456789abcdU);
    EXPECT_EQ(walk.page_directory, (Place{0x200100000, Aperture::video}));
    EXPECT_EQ(walk.page_tables, 2U);
    ASSERT_EQ(walk.steps.size(), 3U);
    EXPECT_EQ(walk.steps[1].level, "PD0");
    EXPECT_EQ(walk.steps[1].index, 60U);
    EXPECT_EQ(walk.steps[1].entry, (Place{0x1f00033c0, Aperture::coherent}));
    EXPECT_EQ(walk.steps[1].raw, "0x00000000200105020000000020010412");
    EXPECT_EQ(walk.steps[1].meaning, "big 0x200104100 vid small 0x200105000 vid");
    EXPECT_EQ(walk.result, (Place{0x7f6543bcd, Aperture::peer}));
    EXPECT_EQ(walk.page_size, 4096U);
    EXPECT_EQ(walk.flags, (std::vector<std::string>{"volatile", "kind=6", "peer=1"}));
    EXPECT_EQ(walk.error, std::nullopt);
}

TEST(TranslationAnswer, HasNoResultIfNothingIsMapped) {
    const Translation walk = value(parse_translation("virtual_address: 0x1000\n"
                                                     "page_directory: 0x1000 ncoh\n"
                                                     "page_tables: 1\n"
                                                     "PD0[0]: 0x1000 ncoh 0x0000000000000000 "
                                                     "invalid\n"
                                                     "result: -\npage_size: -\nflags: -\n"
                                                     "error: PD0[0] is invalid\n"));
    EXPECT_EQ(walk.result, std::nullopt);
    EXPECT_EQ(walk.page_size, std::nullopt);
    EXPECT_TRUE(walk.flags.empty());
    EXPECT_EQ(walk.error, "PD0[0] is invalid");
}

TEST(TimesliceAnswer, HasTimesInNanoseconds) {
    const TimesliceChange change = value(parse_timeslice_change(
        "runlist: 0\ntsg: 5\nasked_us: 1500.000\nold_us: 1998.848\nnew_us: 1499.136\n"
        "timeout: 183\nscale: 3\nheaders: 1\n"));
    EXPECT_EQ(change.tsg, 5U);
    EXPECT_EQ(change.asked_ns, 1500000U);
    EXPECT_EQ(change.old_ns, 1998848U);
    EXPECT_EQ(change.new_ns, 1499136U);
    EXPECT_EQ(change.timeout, 183U);
    EXPECT_EQ(change.headers, 1U);
}

} // namespace
