// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Reads JSON that a person or another program wrote, strictly: the length and the depth are
/// checked before parsing, a key that an object has twice is an error, and each error is one
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

using Json = nlohmann::json; // finds a key among many faster than ordered_json

/// An exception for the first error of a document.
struct Wrong {
    std::string sentence;
};

[[noreturn]] void wrong(const std::string &place, const std::string &what);

/// Returns a part of the file's text for a sentence: shortened, and without characters that steer a
/// terminal.
std::string in_quotes(std::string_view text);

/// The largest file and the deepest nesting of lists and objects that are read.
struct Bounds {
    std::size_t bytes, nesting;
};

/// Parses the value of a whole file. Throws Wrong.
Json document(std::string_view text, const Bounds &bounds);

/// A value and its path. The value must outlive the Place. All functions throw Wrong.
struct Place {
    const Json &value;
    std::string path;

    std::string where() const { return path.empty() ? "the file" : path; }

    /// Fails if the value is not an object, or has a key that is not in @p keys.
    void expect_object(std::initializer_list<std::string_view> keys) const;
    bool has(const char *key) const { return value.contains(key); }
    /// Returns the value of @p key. Fails if the object has no such key.
    Place at(const char *key) const;
    /// Returns the entries of a list. Fails if the value is not a list, or has more than @p most
    /// entries.
    std::vector<Place> items(std::size_t most) const;
    /// Returns a whole number from @p least to @p most.
    std::int64_t number(std::int64_t least, std::int64_t most) const;
    std::string text() const;
};

} // namespace nvdebug::base
