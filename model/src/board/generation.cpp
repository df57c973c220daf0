// SPDX-License-Identifier: MIT OR GPL-2.0
#include "board/generation.hpp"

#include "regs/pbdma.hpp"
#include "regs/pbus.hpp"
#include "regs/ramin.hpp"
#include "regs/runlist_gb202.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace nvmodel {
namespace {

// enable_wakes: to resume a TSG, drivers up to Pascal write nothing but the enable bit. From Volta
// on they also ring a doorbell, because an idle runlist is not rescanned by itself (nvgpu
// hal/fifo/tsg_gk20a.c against hal/fifo/tsg_gv11b_fusa.c).
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
                    .version_2_128k = false,
                    .leaf_512m = false,
                    .leaf_256g = false},
    .instance = {.ramfc = RamfcForm::gk104,
                 .address_limit = true,
                 .wide_pointer = false,
                 .firmware_magic = false},
    .context = {.header_bytes = 0x100,
                .typed = false,
                .preemption_modes = false,
                .veid_headers = false,
                .wide_pointer = false},
    .window_register = regs::pbus::bar0_window,
    .window_mask = regs::pbus::window_base.mask() | regs::pbus::window_target.mask(),
    .pci_resources = {0, 1, 3},
    .memory = MemoryForm::video,
    .pramin = true,
    .bar1_use = true,
    .fuse = FuseForm::gf100,
    .memory_size = MemorySize::none,
    .work_distributor = WorkDistributor::counts,
    .tpc_order = TpcOrder::round_robin,
    .runlist_layout = RunlistLayout::ga100,
    .pbdma_layout = PbdmaLayout::gk104,
    .pbdma_stride = regs::pbdma::stride_kepler,
    .runlist_base_shift = 12,
    .runlist_base_hi_wide = false,
    .host_class = regs::ramin::signature_legacy,
    .fifo_cfg0 = false,
    .kepler_fifo_registers = true,
    .mig_scratch = {},
    .mig_arbiter = false,
    .confidential = ConfidentialRegister::none,
    .ltc_count = false,
    .pri_ring = true,
    .read_flushes = false,
    .fb_flush = false,
    .gate_counts = false,
    .tsg_preempt_counted = false,
    .bare_channels = true,
    .channel_preempt = true,
    .fault_bits = false,
    .force_fault_bits = false,
    .volta_fifo_registers = false,
    .subcontexts = false,
    .entry_pointers_used = false,
    .enable_wakes = true,
};

// From here on each table is a copy of an earlier one with changes.

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
    g.page_tables.version_2_128k = true; // open-gpu-kernel-modules kern_gmmu_fmt_gp10x.c
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
    g.page_tables.version_2_128k = false;
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
    g.fuse = FuseForm::ga100;
    g.pbdma_layout = PbdmaLayout::ga100;
    g.pbdma_stride = regs::pbdma::stride_ampere;
    g.host_class = 0xc56f;
    g.mig_scratch = MigScratch{.exists = true, .word = 0, .follows = true};
    g.mig_arbiter = true; // inferred from GA10B and GH100
    g.entry_pointers_used = true;
    return g;
}();

constexpr Generation ampere_ga10x = [] {
    Generation g = ampere_ga100;
    g.name = "ampere-ga10x";
    g.mig_scratch = {};
    g.mig_arbiter = false;
    g.runlist_base_shift = 10;
    g.memory_size = MemorySize::mib;
    return g;
}();

// No Ada manual is public; NVIDIA's resource manager uses the Ampere functions.
constexpr Generation ada = [] {
    Generation g = ampere_ga10x;
    g.name = "ada";
    g.work_distributor = WorkDistributor::none;
    g.pri_ring = false;
    return g;
}();

// Only PREEMPT and the channel RAM of GH100's NV_RUNLIST are public. An H100 and an H200 were read,
// and have the rest as GA100 has it.
constexpr Generation hopper = [] {
    Generation g = ada;
    g.name = "hopper";
    g.page_tables.version = mmu::Version::v3;
    g.doorbell = Doorbell::hopper;
    g.bar_block = BarBlock::vf_paired;
    g.window_register = regs::xal::bar0_window;
    g.window_mask = regs::xal::window_base_gh100.mask();
    g.pci_resources = {0, 2, 4};
    g.host_class = 0xc86f;
    g.work_distributor = WorkDistributor::gh100;
    // Inferred from GB10B; physical addresses have 52 bits here, too.
    g.runlist_base_hi_wide = true;
    // Inferred from GB10B; virtual addresses have 57 bits here, too.
    g.instance.wide_pointer = true;
    g.context.wide_pointer = true;
    g.read_flushes = true;
    g.fb_flush = true;
    g.memory_size = MemorySize::mib_twice;
    // It is inferred that the scratch register stays: the resource manager reads it on GA100 only.
    g.mig_scratch =
        MigScratch{.exists = true, .word = regs::pbus::sw_scratch_1_gh100, .follows = false};
    g.mig_arbiter = true;
    g.confidential = ConfidentialRegister::pgc6;
    return g;
}();

// Host is as nvgpu has it for GB10B. From the resource manager's functions it is inferred that the
// discrete GB10x are the same.
constexpr Generation blackwell_gb10x = [] {
    Generation g = hopper;
    g.name = "blackwell-gb10x";
    g.page_tables.leaf_256g = true;
    g.instance.ramfc = RamfcForm::gb100;
    g.instance.firmware_magic = true;
    g.entry = EntryFormat::words4_gb10b;
    g.window_mask = regs::xal::window_base_gb100.mask();
    g.pbdma_layout = PbdmaLayout::gb10b;
    g.memory_size = MemorySize::mib;
    g.mig_scratch = MigScratch{.exists = true, .word = 0, .follows = false};
    g.confidential = ConfidentialRegister::pmc;
    g.host_class = 0xc96f;
    g.fb_flush = false;
    g.gate_counts = true;
    g.tsg_preempt_counted = true;
    return g;
}();

// Host is as nvgpu has it for GB20C, and inferred in the same way for the discrete GB20x.
constexpr Generation blackwell_gb20x = [] {
    Generation g = blackwell_gb10x;
    g.name = "blackwell-gb20x";
    g.entry = EntryFormat::words4_gb20c;
    g.doorbell = Doorbell::gb20x;
    g.pci_resources = {0, 1, 3};
    g.work_distributor = WorkDistributor::gb20c;
    g.runlist_layout = RunlistLayout::gb202;
    g.pbdma_layout = PbdmaLayout::gb20c;
    g.runlist_base_shift = 8;
    g.mig_scratch = {};
    g.mig_arbiter = false;
    g.confidential = ConfidentialRegister::none;
    g.host_class = 0xca6f;
    g.fb_flush = true;
    return g;
}();

// Integrated GPUs (Tegra) have no memory of their own. PRAMIN is left out: nvgpu's headers name its
// window, and for gp10b and gv11b its data, but no driver of these chips uses it, and it is not
// public what it shows. BAR2 exists inside the GPU only.
constexpr Generation integrated(Generation g, std::string_view name, MemoryForm memory) {
    g.name = name;
    g.pci_resources = {0, 1, std::nullopt};
    g.memory = memory;
    g.pramin = false;
    g.memory_size = MemorySize::none;
    return g;
}

// By nvgpu's platform data gv11b and ga10b honour apertures, and no older chip does
// (os/linux/platform_*_tegra.c; common/mm/nvgpu_mem.c).
constexpr Generation pascal_gp10b =
    integrated(pascal, "pascal-gp10b", MemoryForm::unified_as_video);

// There is no BAR1: nvgpu hal/mm/mm_gv11b_fusa.c.
constexpr Generation volta_gv11b = [] {
    Generation g = integrated(volta, "volta-gv11b", MemoryForm::unified);
    g.bar1_use = false;
    return g;
}();

// nvgpu binds BAR2 in PBUS and knows no leaf of 512 MiB (hal/init/hal_ga10b.c, hw_gmmu_ga10b.h).
// Context headers: hw_ctxsw_prog_ga10b.h; the firmware's word: hw_ram_ga10b.h.
constexpr Generation ampere_ga10b = [] {
    Generation g = integrated(ampere_ga10x, "ampere-ga10b", MemoryForm::unified);
    g.bar1_use = false;
    g.bar_block = BarBlock::pbus;
    g.mig_arbiter = true;
    g.page_tables.leaf_512m = false;
    g.instance.firmware_magic = true;
    g.context.header_bytes = 0x300;
    return g;
}();

constexpr std::array all{kepler,          maxwell_gm20x, pascal,      volta,       turing,
                         ampere_ga100,    ampere_ga10x,  ada,         hopper,      blackwell_gb10x,
                         blackwell_gb20x, pascal_gp10b,  volta_gv11b, ampere_ga10b};

} // namespace

unsigned Generation::engine_slots() const {
    if (submit != SubmitScheme::block)
        return std::numeric_limits<unsigned>::max();
    return runlist_layout == RunlistLayout::ga100 ? regs::runlist::engine_slots
                                                  : regs::runlist::engine_slots_gb202;
}

std::span<const Generation> generations() {
    return all;
}

const Generation *find_generation(std::string_view name) {
    const auto found = std::ranges::find(all, name, &Generation::name);
    return found == all.end() ? nullptr : &*found;
}

} // namespace nvmodel
