// SPDX-License-Identifier: MIT OR GPL-2.0
// Engines as people write them: "GR0", "LCE2", "SEC0".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvmodel {

/// PTOP's TYPE_ENUM (open-gpu-doc manuals/turing/tu104/dev_top.ref.txt;
/// nvgpu include/nvgpu/device.h).
enum class EngineType : std::uint8_t {
    gr = 0,
    sec = 13,
    nvenc = 14,
    nvdec = 16,
    ioctrl = 18,
    lce = 19,
    gsp = 20,
    nvjpg = 21,
    ofa = 22,
};

struct EngineName {
    EngineType type = EngineType::gr;
    unsigned instance = 0;

    auto operator<=>(const EngineName &) const = default;
};

/// "LCE2"; also understands GRCEn, another name of LCEn.
std::optional<EngineName> parse_engine_name(std::string_view text);

std::string to_string(EngineName name);

} // namespace nvmodel
