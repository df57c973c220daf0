// SPDX-License-Identifier: MIT OR GPL-2.0
#include "board/engine_name.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace nvmodel {
namespace {

// If a type has several names, the first one is printed.
constexpr std::array<std::pair<std::string_view, EngineType>, 18> names{{
    {"GR", EngineType::gr},
    {"COPY", EngineType::copy},
    {"MSPDEC", EngineType::mspdec},
    {"MSPPP", EngineType::msppp},
    {"MSVLD", EngineType::msvld},
    {"MSENC", EngineType::msenc},
    {"SEC", EngineType::sec},
    {"NVENC", EngineType::nvenc},
    {"NVDEC", EngineType::nvdec},
    {"IOCTRL", EngineType::ioctrl},
    {"LCE", EngineType::lce},
    {"GRCE", EngineType::lce},
    {"GSP", EngineType::gsp},
    {"NVJPG", EngineType::nvjpg},
    {"OFA", EngineType::ofa},
    {"FLA", EngineType::fla},
    {"HSHUB", EngineType::hshub},
    {"UNNAMED", EngineType::unnamed},
}};

} // namespace

std::optional<EngineName> parse_engine_name(std::string_view text) {
    const auto digits = std::min(text.find_first_of("0123456789"), text.size());
    const auto found = std::ranges::find(names, text.substr(0, digits),
                                         &std::pair<std::string_view, EngineType>::first);
    if (found == names.end() || digits == text.size())
        return std::nullopt;
    unsigned instance = 0;
    const char *const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + digits, end, instance);
    if (error != std::errc{} || rest != end || instance > 63)
        return std::nullopt;
    return EngineName{found->second, instance};
}

std::string to_string(EngineName name) {
    const auto found =
        std::ranges::find(names, name.type, &std::pair<std::string_view, EngineType>::second);
    const std::string type = found == names.end() ? "?" : std::string(found->first);
    return type + std::to_string(name.instance);
}

} // namespace nvmodel
