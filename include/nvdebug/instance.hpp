// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief The instance block, subcontexts and context below a channel of `runlistY`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/memory.hpp"

namespace nvdebug {

/// A valid entry of a subcontext table (Volta and newer).
struct Subcontext {
    std::uint32_t veid;
    Place page_directory;
    std::optional<bool> page_directory_volatile;
    std::optional<std::uint32_t> pasid;
    std::optional<bool> ats;
};

/// The image of an engine's context, as firmware wrote it at the last save.
struct Context {
    std::optional<std::uint32_t> id;
    std::optional<std::string> type;                ///< `compute`, `OpenGL`, …
    std::optional<std::string> graphics_preemption; ///< `WFI`, `GFXP`, `undefined-N`
    std::optional<std::string> compute_preemption;  ///< `WFI`, `CTA`, `CILP`, `undefined-N`
    std::optional<std::uint32_t> saves, restores, wfi_saves, cta_saves, gfxp_saves, cilp_saves;
    std::optional<std::uint64_t> image; ///< GPU virtual address
    Place image_place;
};

/// The instance block of a channel. Values that its generation lacks are empty.
struct InstanceBlock {
    /// The channel below which this block was printed already. If it is set, the other members are
    /// empty.
    std::optional<std::uint32_t> same_as_channel;
    /// Why the block could not be read. If it is set, the other members are empty.
    std::optional<std::string> error;

    std::optional<std::uint32_t> page_tables; ///< version: 1, 2 or 3
    std::optional<std::uint32_t> big_page_size_kib;
    Place page_directory; ///< the directory of Host, copy and video engines
    std::optional<bool> page_directory_volatile;
    std::optional<std::uint64_t> va_limit; ///< last address (up to Turing)
    std::optional<std::uint32_t> target_engine;
    std::optional<bool> privileged;
    std::optional<std::uint32_t> veid;
    std::optional<std::uint32_t> pasid;
    std::optional<bool> ats;
    Place engine_wfi;                           ///< address is virtual in mode `virtual`
    std::optional<std::string> engine_wfi_mode; ///< `virtual` or `physical`

    std::optional<std::uint32_t> subcontext_count; ///< valid entries; empty before Volta, or if
                                                   ///< printed elsewhere
    std::optional<std::uint32_t> subcontexts_as_channel; ///< the table is printed below that
                                                         ///< channel
    std::vector<Subcontext> subcontexts; ///< by rising VEID; empty if printed elsewhere

    std::optional<std::uint32_t> context_as_channel; ///< the context is printed below that channel
    /// Why there is no context here: `none`, `not mapped`, …; empty if there is one, or if the text
    /// is `-`.
    std::optional<std::string> context_note;
    std::optional<Context> context;
};

} // namespace nvdebug
