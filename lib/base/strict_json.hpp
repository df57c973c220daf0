// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file JSON that a person or another program wrote, read strictly: it is bounded in length and
/// depth before it is parsed, a key that is there twice is an error, and every error is one
/// sentence that names its place, by line and column or by path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nvdebug::base {

using Json = nlohmann::json; // finds keys among many in little time

/// The first thing that is wrong, as an exception.
struct Wrong {
    std::string sentence;
};

[[noreturn]] void wrong(const std::string &place, const std::string &what);

/// Text of the file in a sentence: short, and nothing that steers a terminal.
std::string in_quotes(std::string_view text);

/// The largest file and the deepest nesting of lists and objects that are read.
struct Bounds {
    std::size_t bytes, nesting;
};

/// The value of a whole file; throws Wrong.
Json document(std::string_view text, const Bounds &bounds);

/// A value and where it is. The value outlives it. All functions throw Wrong.
struct Place {
    const Json &value;
    std::string path;

    std::string where() const { return path.empty() ? "the file" : path; }

    /// Fails if it is no object, or has a key that is not one of @p keys.
    void expect_object(std::initializer_list<std::string_view> keys) const;
    bool has(const char *key) const { return value.contains(key); }
    /// Of an object; fails if there is no such key.
    Place at(const char *key) const;
    /// Of a list; fails if it is none or has more than @p most entries.
    std::vector<Place> items(std::size_t most) const;
    /// A whole number from @p least to @p most.
    std::int64_t number(std::int64_t least, std::int64_t most) const;
    std::string text() const;
};

} // namespace nvdebug::base
