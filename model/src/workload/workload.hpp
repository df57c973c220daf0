// SPDX-License-Identifier: MIT OR GPL-2.0
// A workload as in its file: tasks, their entries on runlists, and their work. It names engines, so
// that one file fits every board; plan.hpp fits it to a board. docs/model.md describes the file
// format.
#pragma once

#include "base/json_reader.hpp"
#include "base/time.hpp"
#include "board/board.hpp"
#include "memory/aperture.hpp"
#include "mmu/page.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nvmodel {

/// The work in a channel's pushbuffer.
struct Work {
    enum class Kind : std::uint8_t {
        idle,    // no work
        busy,    // always more work
        amount,  // `amount` of engine time at `offset`, and again every `period` if that is not 0
        acquire, // waits on a semaphore until `offset` (or forever), then busy
    };
    Kind kind = Kind::idle;
    Ns amount = 0;
    Ns period = 0;
    Ns offset = 0;
    bool switch_tsg = true; // acquire: the TSG may be left while waiting

    bool operator==(const Work &) const = default;
};

enum class ChannelFault : std::uint8_t { none, pbdma, engine };

/// "LCE2", or "first-async-lce": the first copy engine off graphics runlists that has a PCE.
struct EngineChoice {
    std::optional<EngineName> name; // none: first-async-lce
    JsonValue where;                // place for complaints
};

struct ChannelSpec {
    JsonValue where;
    unsigned repeat = 1;
    std::optional<unsigned> id = {}; // none: the lowest free one
    std::optional<EngineChoice> engine = {};
    Work work = {};
    bool enabled = true;
    unsigned runqueue = 0;
    unsigned subcontext = 0; // VEID
    ChannelFault fault = ChannelFault::none;
};

/// The ways to interrupt a context; the values are those of its image.
enum class GraphicsPreemption : std::uint8_t { wfi = 0, gfxp = 1 };
enum class ComputePreemption : std::uint8_t { wfi = 0, cta = 1, cilp = 2 };

struct ContextSpec {
    std::optional<GraphicsPreemption> graphics = {};
    std::optional<ComputePreemption> compute = {};
    std::optional<std::uint32_t> id = {}; // none: the next one
};

/// Pages, or with `sparse` a range without any page.
struct MappingSpec {
    JsonValue where;
    std::uint64_t va = 0;
    std::uint64_t page_size = 0;
    unsigned pages = 1;
    bool sparse = false;
    mmu::PageAperture aperture = mmu::PageAperture::video;
    std::optional<std::uint64_t> address = {}; // none: anywhere
};

struct AddressSpaceSpec {
    std::optional<JsonValue> where = {};           // none: not in the file
    Aperture directory_aperture = Aperture::video; // aperture of the root
    Aperture table_aperture = Aperture::video;     // aperture of all other tables
    std::uint32_t pasid = 0;
    bool ats = false;
    std::uint64_t big_page = 64 * mmu::kib;
    std::optional<mmu::Version> page_tables = {};          // none: the newest
    std::optional<std::vector<MappingSpec>> mappings = {}; // none: some of every page size
    /// The place of contexts, if their pointers reach so far.
    std::optional<std::uint64_t> context_va = {};
};

/// A TSG, or with `bare` a channel outside any TSG.
struct GroupSpec {
    JsonValue where;
    bool bare = false;
    unsigned repeat = 1;
    std::string task; // "{n}" stands for the number of the repetition
    EngineChoice engine;
    std::optional<unsigned> id = {};
    std::optional<Timeslice> timeslice = {};
    std::vector<std::string> address_spaces = {}; // by subcontext
    std::optional<unsigned> length = {};          // length in the header, if it is not the true one
    std::optional<Aperture> instance_aperture = {};
    ContextSpec context = {};
    bool privileged = false;
    std::vector<ChannelSpec> channels = {};
};

/// Repeats the entries of a TSG.
struct AgainSpec {
    JsonValue where;
    std::string task;
};

/// Words that are put into a list unchanged; a set for each entry format.
struct RawSpec {
    JsonValue where;
    EngineChoice engine;
    std::array<std::uint32_t, 2> words2{};
    std::array<std::uint32_t, 4> words4{};
};

using EntrySpec = std::variant<GroupSpec, AgainSpec, RawSpec>;

/// The part of video memory where the driver puts its structures.
enum class Placement : std::uint8_t {
    high, // near the end: only the PRAMIN window reaches them
    low,  // near the start: BAR1 and BAR2 reach them in physical mode
};

/// The memory that BAR1 and BAR2 show.
enum class BarSetup : std::uint8_t {
    physical,   // video memory
    translated, // pages of their tables, with the few structures that the driver itself needs
    mapped,     // BAR2: the driver's structures, as far as it has room
};

struct Workload {
    std::string name;
    std::string title;
    Placement placement = Placement::high;
    BarSetup bars = BarSetup::translated;
    Aperture runlist_aperture = Aperture::video;
    Aperture instance_aperture = Aperture::video;
    std::map<std::string, AddressSpaceSpec> address_spaces; // spaces that a workload describes
    std::vector<EntrySpec> entries;
};

/// Returns the (TIMEOUT, SCALE) that lasts longest without exceeding a duration; at least one unit.
Timeslice encode_timeslice(Ns duration);

/// Reads a workload file. Throws ConfigError.
Workload load_workload(const std::filesystem::path &file);
Workload parse_workload(JsonValue root);

} // namespace nvmodel
