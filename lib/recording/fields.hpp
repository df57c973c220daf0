// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Members of a line of JSON, of which any may be wrong.
#pragma once

#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "lib/drawing/events.hpp"
#include "nvdebug/error.hpp"

namespace recording {

using drawing::Json;

/// An error of a line. Its text completes a sentence about the line.
struct BadLine : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] inline void is_no(const char *key, const char *what) {
    throw BadLine(fmt::format("'{}' is no {}", key, what));
}

inline const Json &value_of(const Json &object, const char *key) {
    if (!object.is_object())
        throw BadLine("it is no JSON object");
    const auto found = object.find(key);
    if (found == object.end())
        throw BadLine(fmt::format("'{}' is missing", key));
    return *found;
}

template <typename T>
T number_in(const Json &object, const char *key) {
    const Json &value = value_of(object, key);
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<T>::max()})
        is_no(key, "number that it may be");
    return value.get<T>();
}

inline std::string text_in(const Json &object, const char *key) {
    const Json &value = value_of(object, key);
    if (!value.is_string())
        is_no(key, "text");
    return value.get<std::string>();
}

inline bool bool_in(const Json &object, const char *key) {
    const Json &value = value_of(object, key);
    if (!value.is_boolean())
        is_no(key, "true or false");
    return value.get<bool>();
}

inline const Json &list_in(const Json &object, const char *key) {
    const Json &value = value_of(object, key);
    if (!value.is_array())
        is_no(key, "list");
    return value;
}

/// Returns what @p get finds; empty: the value is null.
template <typename Get>
auto unless_null(const Json &object, const char *key, Get get)
    -> std::optional<decltype(get(object, key))> {
    if (value_of(object, key).is_null())
        return std::nullopt;
    return get(object, key);
}

inline std::uint64_t number_as_text(const Json &object, const char *key) {
    const std::string text = text_in(object, key);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        is_no(key, "number as text");
    return number;
}

inline constexpr auto number32 = number_in<std::uint32_t>;
inline constexpr auto number64 = number_in<std::uint64_t>;

/// Returns an error about the text of a file.
inline tl::unexpected<nvdebug::Error> malformed(std::string sentence) {
    return tl::unexpected(
        nvdebug::Error{nvdebug::ErrorCode::malformed, 0, "", std::move(sentence)});
}

} // namespace recording
