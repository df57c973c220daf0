// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU board as data: everything that a model needs to know about one product.
// The file format is described in docs/model.md.
#pragma once

#include "base/time.hpp"
#include "board/engine_name.hpp"
#include "board/generation.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nvmodel {

struct ChipIdentity {
    std::string name; // "GP106"
    std::uint32_t boot_0 = 0;
    std::uint32_t boot_1 = 0;
    std::uint32_t boot_42 = 0;
};

/// Where a product has its GPU. What is no PCI function is shown to QEMU as one all the same, a
/// vehicle with the device's register regions as its BARs.
enum class BusKind : std::uint8_t { pci, platform };

struct PciIdentity {
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
    std::uint16_t subsystem_vendor = 0;
    std::uint16_t subsystem = 0;
    std::uint32_t class_code = 0; // 24 bits: base, sub, programming interface
    std::uint8_t revision = 0;
};

/// Bytes. `modelled` is what the guest sees; `real` is what the product has.
struct BarSize {
    std::uint64_t real = 0;
    std::uint64_t modelled = 0;
};

/// How the BARs look to PCI.
enum class BarForm : std::uint8_t {
    narrow,  // all of 32 bits
    product, // 64 bits and prefetchable, wherever the next resource is left free for that
};

/// One device of the PTOP table, in table order.
struct EngineRow {
    unsigned die = 0;        // the die with the table that it is in
    unsigned gap_before = 0; // empty words or rows in front of it
    EngineName name;
    std::optional<unsigned> runlist; // none: not driven by Host
    std::optional<unsigned> engine_id;
    unsigned slot = 0; // RLENG_ID: index among the runlist's engines
    std::optional<unsigned> intr;
    std::optional<unsigned> reset;
    std::optional<unsigned> fault_id;
    std::uint32_t pri_base = 0;
};

struct RunlistRow {
    unsigned id = 0;
    std::vector<unsigned> pbdmas; // in runqueue order
    std::uint32_t base = 0;       // of the NV_RUNLIST block, Ampere+
    std::uint32_t chram = 0;      // of the channel RAM, Ampere+
    std::uint32_t fb_config = 0;  // Ampere+; its meaning is not public
};

/// What the driver leaves in the copy wiring registers.
struct CopyWiringRow {
    std::uint32_t pce_map = 0;
    std::vector<std::optional<unsigned>> pce_lce; // by PCE number: the LCE it works for
    /// The same of a second die, where all PCEs are there. Its registers are not modelled.
    std::vector<std::optional<unsigned>> second_die;
    struct Grce {
        bool shared = false;
        std::optional<unsigned> lce; // the lender of its PCEs
    };
    std::vector<Grce> grces;
};

/// A TPC by its logical numbers: the GPC among those that are on, the TPC within it.
struct TpcPlace {
    unsigned gpc = 0;
    unsigned tpc = 0;

    bool operator==(const TpcPlace &) const = default;
};

struct Geometry {
    unsigned num_gpcs = 0; // design maxima
    unsigned num_tpc_per_gpc = 0;
    unsigned num_ces = 0;
    unsigned num_fbps = 0;
    unsigned num_ltcs = 0;                   // from GM20x on
    std::uint32_t gpc_disabled = 0;          // mask
    std::vector<std::uint32_t> tpc_disabled; // mask by physical GPC
    std::vector<unsigned> gpc_order;         // the physical GPC of each logical one, if known
    std::vector<unsigned> gpc_half;          // the half of the chip that a physical GPC is in
    std::vector<TpcPlace> tpc_order;         // the place of each TPC id, if known

    /// The physical GPC of each logical one: if nothing else is known, those that are on, in order.
    [[nodiscard]] std::vector<unsigned> live_gpcs() const;
    /// Live TPCs of each live GPC, by logical number.
    [[nodiscard]] std::vector<unsigned> live_tpcs() const;
};

/// Durations that the hardware takes and that software can see.
struct Timing {
    Ns list_fetch = 0;     // a submitted runlist is PENDING for that long
    Ns context_switch = 0; // an engine's context: save one, load the next
    Ns channel_switch = 0; // a PBDMA's channel, when no engine switches
};

struct Timeslice {
    unsigned timeout = 0; // 8 bits
    unsigned scale = 0;   // 4 bits

    /// (timeout << scale) units; a timeout of 0 counts as one unit.
    [[nodiscard]] Ns duration() const;
    bool operator==(const Timeslice &) const = default;
};

struct Board {
    std::string name;
    std::string title;
    const Generation *generation = nullptr;
    ChipIdentity chip;
    BusKind bus = BusKind::pci;
    PciIdentity pci;
    BarSize bar0; // registers
    BarSize bar1; // framebuffer
    BarSize bar2; // instance memory; none on integrated GPUs
    BarForm bar_form = BarForm::narrow;
    std::uint64_t video_bytes = 0;      // none on integrated GPUs
    std::uint32_t ptop_version = 2;     // v2 and its successor, which has the same rows
    std::uint32_t ptop_max_devices = 0; // v2
    std::uint32_t ptop_rows = 0;        // v2
    std::vector<EngineRow> engines;
    std::vector<RunlistRow> runlists;
    unsigned channels = 0; // per GPU, or per runlist where ids are per runlist
    Timeslice default_timeslice;
    CopyWiringRow copy;
    Geometry geometry;
    Timing timing;

    /// Has the guest see BARs as the product has them, if it has any, instead of as modelled.
    void show_real_bars();

    [[nodiscard]] const RunlistRow *find_runlist(unsigned id) const;
    [[nodiscard]] const EngineRow *find_engine(EngineName engine) const;
    /// The engine that a workload means: where copy engines are physical, LCE0 and LCE1 are the
    /// ones on the graphics runlist, LCE2 and so on the others. On integrated GPUs, which have few,
    /// one that is missing is the last one. Null if there is none.
    [[nodiscard]] const EngineRow *engine_meant(EngineName asked) const;
    [[nodiscard]] const EngineRow *last_copy_engine() const;
    /// True if a graphics engine shares its runlist.
    [[nodiscard]] bool on_graphics_runlist(const EngineRow &engine) const;
    /// Engine slots that Host has registers for: one more than the largest engine id.
    [[nodiscard]] unsigned engine_slots() const;
    /// Dies with a device table of their own.
    [[nodiscard]] unsigned dies() const;
    /// One more than the largest PBDMA number.
    [[nodiscard]] unsigned pbdma_count() const;
    [[nodiscard]] bool ids_per_runlist() const {
        return generation->channel_state == ChannelState::chram;
    }
};

/// Reads a board file. Throws ConfigError.
Board load_board(const std::filesystem::path &file);

} // namespace nvmodel
