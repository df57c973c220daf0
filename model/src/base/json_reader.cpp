// SPDX-License-Identifier: MIT OR GPL-2.0
#include "base/json_reader.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace nvmodel {
namespace {

constexpr std::uintmax_t max_file_size = 1 << 20;
constexpr std::size_t max_text = 256;

std::string decimal(double value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
    if (!text.starts_with("0x") || text.size() == 2)
        return std::nullopt;
    std::uint64_t value = 0;
    const char *const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + 2, end, value, 16);
    if (error != std::errc{} || rest != end)
        return std::nullopt;
    return value;
}

} // namespace

struct JsonValue::Document {
    std::string file;
    nlohmann::json root;
};

JsonValue::JsonValue(std::shared_ptr<const Document> document, const nlohmann::json &value,
                     std::string place)
    : document_(std::move(document)), value_(&value), place_(std::move(place)) {}

JsonValue JsonValue::load(const std::filesystem::path &file) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    if (error)
        throw ConfigError(file.string() + ": " + error.message());
    if (size > max_file_size)
        throw ConfigError(file.string() + ": larger than 1 MiB");
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.good() && !in.eof())
        throw ConfigError(file.string() + ": cannot be read");
    return parse(text, file.string());
}

JsonValue JsonValue::parse(std::string_view text, const std::string &file) {
    auto document = std::make_shared<Document>();
    document->file = file;
    try {
        document->root = nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error &error) {
        throw ConfigError(file + ": byte " + std::to_string(error.byte) + ": not valid JSON");
    }
    const nlohmann::json &root = document->root;
    return {std::move(document), root, ""};
}

void JsonValue::fail(const std::string &reason) const {
    throw ConfigError(document_->file + ": " + (place_.empty() ? "/" : place_) + ": " + reason);
}

std::uint64_t JsonValue::number(std::uint64_t min, std::uint64_t max) const {
    std::optional<std::uint64_t> value;
    if (value_->is_number_unsigned())
        value = value_->get<std::uint64_t>();
    else if (value_->is_string())
        value = parse_hex(value_->get_ref<const std::string &>());
    if (!value)
        fail("expected a whole number, not negative, or a string like \"0x1f\"");
    if (*value < min || *value > max)
        fail(std::to_string(*value) + " is not within " + std::to_string(min) + ".." +
             std::to_string(max));
    return *value;
}

double JsonValue::real(double min, double max) const {
    if (!value_->is_number())
        fail("expected a number");
    const auto value = value_->get<double>();
    if (!std::isfinite(value) || value < min || value > max)
        fail(decimal(value) + " is not within " + decimal(min) + ".." + decimal(max));
    return value;
}

bool JsonValue::boolean() const {
    if (!value_->is_boolean())
        fail("expected true or false");
    return value_->get<bool>();
}

std::string JsonValue::text() const {
    if (!value_->is_string())
        fail("expected a string");
    const auto &value = value_->get_ref<const std::string &>();
    if (value.empty() || value.size() > max_text)
        fail("expected a string of 1 to " + std::to_string(max_text) + " bytes");
    if (std::ranges::any_of(value, [](char c) { return c >= 0 && c < 0x20; }))
        fail("control characters are not allowed");
    return value;
}

std::vector<JsonValue> JsonValue::items(std::size_t max) const {
    if (!value_->is_array())
        fail("expected an array");
    if (value_->size() > max)
        fail("more than " + std::to_string(max) + " items");
    std::vector<JsonValue> found;
    found.reserve(value_->size());
    for (std::size_t i = 0; i < value_->size(); ++i)
        found.push_back({document_, (*value_)[i], place_ + "/" + std::to_string(i)});
    return found;
}

bool JsonValue::is_string() const {
    return value_->is_string();
}

bool JsonValue::is_object() const {
    return value_->is_object();
}

bool JsonValue::is_null() const {
    return value_->is_null();
}

JsonObject::JsonObject(JsonValue value) : value_(std::move(value)) {
    if (!value_.is_object())
        value_.fail("expected an object");
}

JsonValue JsonObject::at(std::string_view key) {
    auto found = find(key);
    if (!found)
        value_.fail("\"" + std::string(key) + "\" is missing");
    return *std::move(found);
}

std::optional<JsonValue> JsonObject::find(std::string_view key) {
    const auto found = value_.value_->find(std::string(key));
    if (found == value_.value_->end())
        return std::nullopt;
    used_.emplace(key);
    return JsonValue(value_.document_, *found, value_.place_ + "/" + std::string(key));
}

bool JsonObject::has(std::string_view key) const {
    return value_.value_->contains(std::string(key));
}

std::vector<std::string> JsonObject::keys() const {
    std::vector<std::string> found;
    for (const auto &[key, value] : value_.value_->items())
        found.push_back(key);
    return found;
}

void JsonObject::finish() const {
    for (const auto &[key, value] : value_.value_->items())
        if (!used_.contains(key))
            value_.fail("\"" + key + "\" is not known here");
}

} // namespace nvmodel
