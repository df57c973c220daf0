// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads a JSON file that is not trusted: every value is fetched with its allowed range, every key
// must be known, and each complaint names file, place and reason.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nvmodel {

/// A value somewhere in the file. It is cheap to copy, and keeps the document alive.
class JsonValue {
  public:
    /// Throws ConfigError if the file cannot be read, is larger than a MiB, or is not JSON.
    static JsonValue load(const std::filesystem::path &file);
    /// For tests: parses the text of a file with this name.
    static JsonValue parse(std::string_view text, const std::string &file);

    /// Throws ConfigError: "FILE: PLACE: REASON".
    [[noreturn]] void fail(const std::string &reason) const;

    /// A whole number, written as such or as a string in hexadecimal ("0x1f").
    [[nodiscard]] std::uint64_t number(std::uint64_t min, std::uint64_t max) const;
    [[nodiscard]] std::uint32_t number32(std::uint32_t min, std::uint32_t max) const {
        return static_cast<std::uint32_t>(number(min, max));
    }
    [[nodiscard]] double real(double min, double max) const;
    [[nodiscard]] bool boolean() const;
    /// A string of 1..256 printable characters.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::vector<JsonValue> items(std::size_t max) const;

    [[nodiscard]] bool is_string() const;
    [[nodiscard]] bool is_object() const;
    [[nodiscard]] bool is_null() const;

  private:
    friend class JsonObject;
    struct Document;
    JsonValue(std::shared_ptr<const Document> document, const nlohmann::json &value,
              std::string place);

    std::shared_ptr<const Document> document_;
    const nlohmann::json *value_;
    std::string place_;
};

/// An object's members; finish() rejects members that were not fetched.
class JsonObject {
  public:
    explicit JsonObject(JsonValue value);

    /// The member; throws ConfigError if it is missing.
    JsonValue at(std::string_view key);
    std::optional<JsonValue> find(std::string_view key);

    [[nodiscard]] bool has(std::string_view key) const;
    [[nodiscard]] std::vector<std::string> keys() const;
    [[nodiscard]] const JsonValue &value() const { return value_; }

    void finish() const;

  private:
    JsonValue value_;
    std::set<std::string, std::less<>> used_;
};

} // namespace nvmodel
