// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief What is below a channel in `runlistY`: instance block, subcontexts, context.
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

/// The engine context's image, as firmware wrote it at the last save.
struct Context {
    std::optional<std::uint32_t> id;
    std::optional<std::string> type;                ///< `compute`, `OpenGL`, …
    std::optional<std::string> graphics_preemption; ///< `WFI`, `GFXP`, `undefined-N`
    std::optional<std::string> compute_preemption;  ///< `WFI`, `CTA`, `CILP`, `undefined-N`
    std::optional<std::uint32_t> saves, restores, wfi_saves, cta_saves, gfxp_saves, cilp_saves;
    std::optional<std::uint64_t> image; ///< GPU virtual address
    Place image_place;
};

struct InstanceBlock {
    /// Printed below this channel already: nothing else here is filled in.
    std::optional<std::uint32_t> same_as_channel;
    /// Why it could not be read: nothing else here is filled in.
    std::optional<std::string> error;

    std::optional<std::uint32_t> page_tables; ///< version: 1, 2 or 3
    std::optional<std::uint32_t> big_page_size_kib;
    Place page_directory; ///< of Host, copy and video engines
    std::optional<bool> page_directory_volatile;
    std::optional<std::uint64_t> va_limit; ///< last address (up to Turing)
    std::optional<std::uint32_t> target_engine;
    std::optional<bool> privileged;
    std::optional<std::uint32_t> veid;
    std::optional<std::uint32_t> pasid;
    std::optional<bool> ats;
    Place engine_wfi;                           ///< address is virtual in mode `virtual`
    std::optional<std::string> engine_wfi_mode; ///< `virtual` or `physical`

    std::optional<std::uint32_t> subcontext_count; ///< valid; empty before Volta or if elsewhere
    std::optional<std::uint32_t> subcontexts_as_channel; ///< printed below that channel
    std::vector<Subcontext> subcontexts; ///< by rising VEID; empty if printed elsewhere

    std::optional<std::uint32_t> context_as_channel; ///< printed below that channel
    /// `none`, `not mapped`, …: why there is no context here; empty if there is, or it is `-`.
    std::optional<std::string> context_note;
    std::optional<Context> context;
};

} // namespace nvdebug
