// SPDX-License-Identifier: MIT OR GPL-2.0
#include "board/generation.hpp"

#include "regs/pbdma.hpp"
#include "regs/pbus.hpp"
#include "regs/ramin.hpp"

#include <algorithm>
#include <array>

namespace nvmodel {
namespace {

// enable_wakes: drivers up to Pascal write nothing but the enable bit to resume a TSG; from Volta
// on they ring a doorbell because an idle runlist is not rescanned by itself
// (nvgpu hal/fifo/tsg_gk20a.c against hal/fifo/tsg_gv11b_fusa.c).
constexpr Generation kepler{
    .name = "kepler",
    .ptop = PtopVersion::v1,
    .ptop_data = PtopData::none,
    .submit = SubmitScheme::shared_port,
    .channel_state = ChannelState::pccsr,
    .entry = EntryFormat::words2,
    .copy = CopyWiring::physical,
    .doorbell = Doorbell::none,
    .bar_block = BarBlock::pbus,
    .page_tables = {.version = mmu::Version::v1,
                    .version_1_too = true,
                    .big_page_by_instance = false,
                    .leaf_512m = false,
                    .leaf_256g = false},
    .instance = {.ramfc = RamfcForm::gk104, .address_limit = true, .firmware_magic = false},
    .context = {.header_bytes = 0x100,
                .typed = false,
                .preemption_modes = false,
                .veid_headers = false},
    .window_register = regs::pbus::bar0_window,
    .window_mask = regs::pbus::window_base.mask() | regs::pbus::window_target.mask(),
    .pci_resources = {0, 1, 3},
    .fuse = FuseForm::gf100,
    .memory_size = MemorySize::none,
    .work_distributor = WorkDistributor::counts,
    .tpc_order = TpcOrder::round_robin,
    .pbdma_stride = regs::pbdma::stride_kepler,
    .runlist_base_shift = 12,
    .host_class = regs::ramin::signature_legacy,
    .fifo_cfg0 = false,
    .kepler_fifo_registers = true,
    .ltc_count = false,
    .pri_ring = true,
    .bare_channels = true,
    .channel_preempt = true,
    .fault_bits = false,
    .force_fault_bits = false,
    .volta_fifo_registers = false,
    .subcontexts = false,
    .entry_pointers_used = false,
    .enable_wakes = true,
};

// From here on a table is a copy of the one before with what changed.

constexpr Generation maxwell_gm20x = [] {
    Generation g = kepler;
    g.name = "maxwell-gm20x";
    g.ptop_data = PtopData::no_instance;
    g.page_tables.big_page_by_instance = true;
    g.fuse = FuseForm::gm107;
    g.work_distributor = WorkDistributor::gm200;
    g.fifo_cfg0 = true;
    g.kepler_fifo_registers = false;
    g.ltc_count = true;
    return g;
}();

constexpr Generation pascal = [] {
    Generation g = maxwell_gm20x;
    g.name = "pascal";
    g.ptop_data = PtopData::instance;
    g.copy = CopyWiring::pascal;
    g.page_tables.version = mmu::Version::v2;
    g.context.preemption_modes = true;
    g.memory_size = MemorySize::range;
    g.work_distributor = WorkDistributor::gp100;
    return g;
}();

constexpr Generation volta = [] {
    Generation g = pascal;
    g.name = "volta";
    g.entry = EntryFormat::words4;
    g.copy = CopyWiring::turing;
    g.doorbell = Doorbell::volta;
    g.page_tables.version_1_too = false;
    g.context.typed = true;
    g.context.veid_headers = true;
    g.host_class = 0xc36f;
    g.bare_channels = false;
    g.channel_preempt = false;
    g.fault_bits = true;
    g.volta_fifo_registers = true;
    g.subcontexts = true;
    g.enable_wakes = false;
    g.tpc_order = TpcOrder::fullest_gpc_first;
    return g;
}();

constexpr Generation turing = [] {
    Generation g = volta;
    g.name = "turing";
    g.submit = SubmitScheme::pfifo_array;
    g.doorbell = Doorbell::turing;
    g.bar_block = BarBlock::pbus_and_vf;
    g.host_class = 0xc46f;
    g.force_fault_bits = true;
    return g;
}();

constexpr Generation ampere_ga100 = [] {
    Generation g = turing;
    g.name = "ampere-ga100";
    g.ptop = PtopVersion::v2;
    g.submit = SubmitScheme::block;
    g.channel_state = ChannelState::chram;
    g.copy = CopyWiring::ampere;
    g.page_tables.leaf_512m = true;
    g.instance.address_limit = false;
    g.context.header_bytes = 0x200;
    g.doorbell = Doorbell::ampere;
    g.bar_block = BarBlock::vf;
    g.fuse = FuseForm::ga100;
    g.pbdma_stride = regs::pbdma::stride_ampere;
    g.host_class = 0xc56f;
    g.entry_pointers_used = true;
    return g;
}();

constexpr Generation ampere_ga10x = [] {
    Generation g = ampere_ga100;
    g.name = "ampere-ga10x";
    g.runlist_base_shift = 10;
    g.memory_size = MemorySize::mib;
    return g;
}();

// No Ada manual is public; the resource manager binds the Ampere functions.
constexpr Generation ada = [] {
    Generation g = ampere_ga10x;
    g.name = "ada";
    g.work_distributor = WorkDistributor::none;
    g.pri_ring = false;
    return g;
}();

constexpr std::array all{kepler, maxwell_gm20x, pascal,       volta,
                         turing, ampere_ga100,  ampere_ga10x, ada};

} // namespace

std::span<const Generation> generations() {
    return all;
}

const Generation *find_generation(std::string_view name) {
    const auto found = std::ranges::find(all, name, &Generation::name);
    return found == all.end() ? nullptr : &*found;
}

} // namespace nvmodel
