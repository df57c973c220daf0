// SPDX-License-Identifier: MIT OR GPL-2.0
// Names of engines as people write them: "GR0", "LCE2", "SEC0".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvmodel {

/// PTOP's TYPE_ENUM (open-gpu-doc manuals/turing/tu104/dev_top.ref.txt;
/// nvgpu include/nvgpu/device.h; open-gpu-kernel-modules published/blackwell/gb100/dev_top.h and,
/// for FLA's name, published/ampere/ga100/dev_top_addendum.h).
enum class EngineType : std::uint8_t {
    gr = 0,
    copy = 1, // COPY0; COPY1 and COPY2 are the types 2 and 3
    mspdec = 8,
    msppp = 9,
    msvld = 10,
    msenc = 11,
    sec = 13,
    nvenc = 14, // NVENC1 is type 15 where the table has no instances
    nvdec = 16,
    ioctrl = 18,
    lce = 19,
    gsp = 20,
    nvjpg = 21,
    ofa = 22,
    fla = 23,
    hshub = 24,
    unnamed = 26, // read on an H200
};

struct EngineName {
    EngineType type = EngineType::gr;
    unsigned instance = 0;

    auto operator<=>(const EngineName &) const = default;
};

/// A copy engine, physical (up to Maxwell) or logical.
constexpr bool is_copy_engine(EngineType type) {
    return type == EngineType::copy || type == EngineType::lce;
}

/// Parses a name such as "LCE2"; GRCEn is another name of LCEn.
std::optional<EngineName> parse_engine_name(std::string_view text);

std::string to_string(EngineName name);

} // namespace nvmodel
