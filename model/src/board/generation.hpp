// SPDX-License-Identifier: MIT OR GPL-2.0
// The differences between GPU generations, as one constant table for each. The table is chosen
// once, when the board is loaded; code asks for a trait and never for a generation.
#pragma once

#include "mmu/format.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nvmodel {

enum class PtopVersion : std::uint8_t { v1, v2 };

/// The data that a device of PTOP's version 1 has beside its ids and type.
enum class PtopData : std::uint8_t {
    none,        // Kepler: no DATA word; the type implies the instance
    no_instance, // Maxwell: base and fault id; the type implies the instance
    instance,    // Pascal..Turing: base, fault id and instance
};

/// The way to submit a runlist to Host.
enum class SubmitScheme : std::uint8_t {
    shared_port, // Kepler..Volta: one port in PFIFO, a read-back pair per runlist
    pfifo_array, // Turing: registers per runlist in PFIFO
    block,       // Ampere+: an NV_RUNLIST block per runlist
};

/// The layout of the registers of an NV_RUNLIST block.
enum class RunlistLayout : std::uint8_t { ga100, gb202 };

/// The layout of a PBDMA's registers.
enum class PbdmaLayout : std::uint8_t { gk104, ga100, gb10b, gb20c };

/// The place of per-channel state. It also says whether channel ids are global or per runlist.
enum class ChannelState : std::uint8_t { pccsr, chram };

/// The format of runlist entries, named after the first chip that has it.
enum class EntryFormat : std::uint8_t {
    words2,
    words4,
    words4_gb10b, // a subcontext id above the instance block's address
    words4_gb20c, // and another one above USERD's
};

enum class CopyWiring : std::uint8_t {
    physical, // Kepler, Maxwell: engines are physical, nothing is wired
    pascal,
    turing,
    ampere,
};

enum class Doorbell : std::uint8_t {
    none,   // Kepler..Pascal: Host watches USERD
    volta,  // channel id
    turing, // channel id and runlist id, behind a gate
    ampere, // vector and runlist id, behind a gate in the runlist's block
    hopper, // as ampere, without NV_CTRL's copy of the doorbell
    gb20x,  // as hopper, with an enable bit
};

enum class BarBlock : std::uint8_t {
    pbus,        // 0x1704, 0x1714
    pbus_and_vf, // 0xb80f40, 0xb80f48, and the PBUS offsets as aliases of them
    vf_paired,   // 0xb80f60.., two registers for each BAR; nothing in PBUS
};

/// The page tables that the MMU walks.
struct PageTableTraits {
    mmu::Version version;      // the newest version
    bool version_1_too;        // an instance block may ask for version 1
    bool big_page_by_instance; // else all blocks share a setting, if there is a choice
    bool version_2_128k;       // tables of version 2 may have big pages of 128 KiB
    bool leaf_512m;
    bool leaf_256g;

    /// The format of tables of the wanted version, or of the only version that the chip has.
    [[nodiscard]] constexpr mmu::Format format(mmu::Version wanted, std::uint64_t big_page) const {
        const mmu::Version used =
            version_1_too && wanted == mmu::Version::v1 ? mmu::Version::v1 : version;
        return {.version = used,
                .big_page = used == mmu::Version::v1 || version_2_128k ? big_page : 64 * mmu::kib,
                .leaf_512m = used != mmu::Version::v1 && leaf_512m,
                .leaf_256g = used == mmu::Version::v3 && leaf_256g};
    }
};

/// The registers that show disabled units.
enum class FuseForm : std::uint8_t { gf100, gm107, ga100 };

/// The register with the size of video memory.
enum class MemorySize : std::uint8_t {
    none,
    range,     // LOCAL_MEMORY_RANGE: magnitude and scale
    mib,       // USABLE_FB_SIZE_IN_MB
    mib_twice, // as mib, and LOCAL_MEMORY_RANGE with a wider magnitude
};

/// The register in which firmware stores whether confidential computing is on.
enum class ConfidentialRegister : std::uint8_t { none, pgc6, pmc };

/// The scratch register of PBUS, which shows MIG on some chips.
struct MigScratch {
    bool exists;
    std::uint32_t word; // value with MIG off
    bool follows;       // whether it shows MIG; else it stays
};

/// The memory that the GPU uses, and the meaning of apertures there.
enum class MemoryForm : std::uint8_t {
    video,            // video memory and system memory
    unified_as_video, // system memory alone; apertures do not count, drivers write video memory's
    unified,          // system memory alone; apertures count, and there is no video memory
};

/// The work distributor's tables of TPCs.
enum class WorkDistributor : std::uint8_t {
    none,
    counts, // Kepler: only the number of TPCs
    gm200,  // SM_ID: a register per GPC
    gp100,  // SM_ID: a register per four TPCs of all GPCs
    gh100,  // as gp100 at another place, as large as the chip's design
    gb20c,  // as gh100 with SM_ID only
};

/// The order in which a driver numbers TPCs.
enum class TpcOrder : std::uint8_t { round_robin, fullest_gpc_first };

/// The form of RAMFC, named after the first chip that has it.
enum class RamfcForm : std::uint8_t { gk104, gb100 };

struct InstanceTraits {
    RamfcForm ramfc;
    bool address_limit;  // words for the last virtual address
    bool wide_pointer;   // the pointer to the engine context has 58 bits, not 40
    bool firmware_magic; // a word for the firmware that switches contexts
};

/// The image of a graphics context in memory.
struct ContextTraits {
    std::uint32_t header_bytes; // size of the main header, and of each local one
    bool typed;                 // the header has a type
    bool preemption_modes;      // modes of preemption, with a counter each
    bool veid_headers;          // instance blocks lead to a header per subcontext
    bool wide_pointer;          // its pointer to the image has 57 bits, not 49
};

struct Generation {
    std::string_view name; // name in board files
    PtopVersion ptop;
    PtopData ptop_data;
    SubmitScheme submit;
    ChannelState channel_state;
    EntryFormat entry;
    CopyWiring copy;
    Doorbell doorbell;
    BarBlock bar_block;
    PageTableTraits page_tables;
    InstanceTraits instance;
    ContextTraits context;
    std::uint32_t window_register;
    std::uint32_t window_mask;
    std::array<std::optional<unsigned>, 3> pci_resources; // of BAR0, BAR1 and BAR2
    MemoryForm memory;
    bool pramin;   // there is a window to memory in BAR0
    bool bar1_use; // drivers map USERDs into BAR1
    FuseForm fuse;
    MemorySize memory_size;
    WorkDistributor work_distributor;
    TpcOrder tpc_order;
    RunlistLayout runlist_layout;
    PbdmaLayout pbdma_layout;
    std::uint32_t pbdma_stride;
    unsigned runlist_base_shift; // alignment of a runlist in memory
    bool runlist_base_hi_wide;   // its address has 52 bits, not 40
    std::uint32_t host_class;    // in RAMFC's signature and PFIFO_CFG2
    bool fifo_cfg0;              // NV_PFIFO_CFG0 is there
    bool kepler_fifo_registers;  // PCCSR_CHANNEL_RUNLIST, timeslices of runlists
    MigScratch mig_scratch;
    bool mig_arbiter; // the unit that hands GPCs to engines shows whether MIG is on
    ConfidentialRegister confidential;
    bool ltc_count;            // PTOP has the number of L2 caches
    bool pri_ring;             // the place where the PRI ring counts GPCs is public
    bool read_flushes;         // some registers flush caches when they are read
    bool fb_flush;             // one of these flushes video memory
    bool gate_counts;          // VIRTUAL_CHANNEL_CFG is COUNT and BASE, not MASK and SET
    bool tsg_preempt_counted;  // TSG_PREEMPT_PENDING stays until all TSG preempts are done
    bool bare_channels;        // channels outside a TSG are legal
    bool channel_preempt;      // PREEMPT type "channel" does something
    bool fault_bits;           // per-channel PBDMA_FAULTED and ENG_FAULTED
    bool force_fault_bits;     // PCCSR can set them (Turing)
    bool volta_fifo_registers; // CFG1, CFG2, *_INST, RUNLIST_PREEMPT, SCHED_STATUS
    bool subcontexts;          // instance blocks hold a subcontext table
    bool entry_pointers_used;  // Host takes INST and USERD from the runlist entry
    bool enable_wakes;         // enabling a channel makes Host look at an idle runlist

    [[nodiscard]] constexpr bool has_video_memory() const { return memory == MemoryForm::video; }

    /// The number of engines that a runlist's registers have room for; without such registers any
    /// number.
    [[nodiscard]] unsigned engine_slots() const;
};

/// All generations that the model knows.
std::span<const Generation> generations();

/// The generation with this name, or nullptr.
const Generation *find_generation(std::string_view name);

} // namespace nvmodel
