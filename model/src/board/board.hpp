// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU board as data: everything that a model needs to know about one product. docs/model.md
// describes the file format.
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

/// The place of a product's GPU. QEMU also shows a GPU that is no PCI function as one: a vehicle
/// with the device's register regions as its BARs.
enum class BusKind : std::uint8_t { pci, platform };

struct PciIdentity {
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;
    std::uint16_t subsystem_vendor = 0;
    std::uint16_t subsystem = 0;
    std::uint32_t class_code = 0; // 24 bits: base, sub, programming interface
    std::uint8_t revision = 0;
};

/// Sizes in bytes: `modelled` is the guest's BAR, `real` the product's.
struct BarSize {
    std::uint64_t real = 0;
    std::uint64_t modelled = 0;
};

/// The form of the BARs on PCI.
enum class BarForm : std::uint8_t {
    narrow,  // all BARs have 32 bits
    product, // 64 bits and prefetchable, where the next resource is free for that
};

/// A device of the PTOP table, in table order.
struct EngineRow {
    unsigned die = 0;        // the die whose table has the engine
    unsigned gap_before = 0; // empty words or rows in front of it
    EngineName name;
    std::optional<unsigned> runlist; // none: Host does not drive it
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
    std::uint32_t base = 0;       // base of the NV_RUNLIST block, Ampere+
    std::uint32_t chram = 0;      // base of the channel RAM, Ampere+
    std::uint32_t fb_config = 0;  // Ampere+; its meaning is not public
};

/// The copy wiring registers as the driver leaves them.
struct CopyWiringRow {
    std::uint32_t pce_map = 0;
    std::vector<std::optional<unsigned>> pce_lce; // by PCE number: the LCE it works for
    /// The LCEs of a second die's PCEs, if all of its PCEs exist. Its registers are not modelled.
    std::vector<std::optional<unsigned>> second_die;
    struct Grce {
        bool shared = false;
        std::optional<unsigned> lce; // the LCE that lends it PCEs
    };
    std::vector<Grce> grces;
};

/// The place of a TPC by logical numbers: its GPC among the live ones, and its number in there.
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

    /// The physical GPC of each logical one: the known order, or else the live GPCs in order.
    [[nodiscard]] std::vector<unsigned> live_gpcs() const;
    /// Live TPCs of each live GPC, by logical number.
    [[nodiscard]] std::vector<unsigned> live_tpcs() const;
};

/// Durations of the hardware that software can see.
struct Timing {
    Ns list_fetch = 0;     // a submitted runlist is PENDING for this time
    Ns context_switch = 0; // saving an engine's context and loading the next
    Ns channel_switch = 0; // changing a PBDMA's channel while no engine switches
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
    std::uint32_t ptop_version = 2;     // version 2, or 3, which has the same rows
    std::uint32_t ptop_max_devices = 0; // v2
    std::uint32_t ptop_rows = 0;        // v2
    std::vector<EngineRow> engines;
    std::vector<RunlistRow> runlists;
    unsigned channels = 0; // per GPU, or per runlist where ids are per runlist
    Timeslice default_timeslice;
    CopyWiringRow copy;
    Geometry geometry;
    Timing timing;

    /// Shows the guest BARs of the product's sizes, if the product has BARs, instead of the
    /// modelled sizes.
    void show_real_bars();

    [[nodiscard]] const RunlistRow *find_runlist(unsigned id) const;
    [[nodiscard]] const EngineRow *find_engine(EngineName engine) const;
    /// Finds the engine that a workload names. Where copy engines are physical, LCE0 and LCE1 are
    /// the ones on the graphics runlist, LCE2 and so on the others. Integrated GPUs have few, so a
    /// missing engine is their last one there. Null if there is none.
    [[nodiscard]] const EngineRow *engine_meant(EngineName asked) const;
    [[nodiscard]] const EngineRow *last_copy_engine() const;
    /// True if the engine shares its runlist with a graphics engine.
    [[nodiscard]] bool on_graphics_runlist(const EngineRow &engine) const;
    /// Engine slots that Host has registers for: one more than the largest engine id.
    [[nodiscard]] unsigned engine_slots() const;
    /// Number of dies, each with a device table of its own.
    [[nodiscard]] unsigned dies() const;
    /// The largest PBDMA number plus one.
    [[nodiscard]] unsigned pbdma_count() const;
    [[nodiscard]] bool ids_per_runlist() const {
        return generation->channel_state == ChannelState::chram;
    }
};

/// Reads a board file. Throws ConfigError.
Board load_board(const std::filesystem::path &file);

} // namespace nvmodel
