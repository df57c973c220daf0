// SPDX-License-Identifier: MIT OR GPL-2.0
#include "strict_json.hpp"
#include "packing.hpp"
#include "printable.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

namespace nvdebug::base {

void wrong(const std::string &place, const std::string &what) {
    throw Wrong{place + ": " + what};
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t most = 40;
    std::size_t size = std::min(text.size(), most);
    // The text is cut between two characters, so bytes that continue a character of UTF-8 are left
    // out.
    while (size > 0 && size < text.size() &&
           (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
        size--;
    constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD
    std::string shown = printable(text.substr(0, size));
    for (std::size_t at; (at = shown.find(replacement)) != shown.npos;)
        shown.replace(at, replacement.size(), "?");
    return "'" + shown + (text.size() > size ? "…'" : "'");
}

namespace {

std::string line_and_column(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const std::size_t line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    const std::size_t begin = before.rfind('\n') + 1; // npos + 1 is 0
    return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - begin + 1);
}

void check_depth(std::string_view text, std::size_t deepest) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); at++) {
        const char c = text[at];
        if (in_string) {
            if (c == '\\')
                at++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > deepest)
                wrong(line_and_column(text, at),
                      "lists and objects are nested deeper than " + std::to_string(deepest));
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
        }
    }
}

/// Finds keys that an object has twice. nlohmann::json would silently keep the last value.
class Duplicates {
  public:
    bool operator()(int, Json::parse_event_t event, Json &parsed) {
        using Event = Json::parse_event_t;
        switch (event) {
        case Event::object_start:
        case Event::array_start:
            open_.push_back({event == Event::array_start, 0, "", {}});
            break;
        case Event::object_end:
        case Event::array_end:
            open_.pop_back();
            count();
            break;
        case Event::value:
            count();
            break;
        case Event::key:
            open_.back().key = parsed.get<std::string>();
            if (!open_.back().seen.insert(open_.back().key).second && found_.empty())
                found_ = path() + ": is there twice";
            break;
        }
        return true;
    }
    const std::string &found() const { return found_; }

  private:
    struct Open {
        bool array;
        std::size_t index;
        std::string key;
        std::set<std::string> seen;
    };

    void count() {
        if (!open_.empty() && open_.back().array)
            open_.back().index++;
    }

    std::string path() const {
        std::string text;
        for (const Open &one : open_)
            text += one.array ? "[" + std::to_string(one.index) + "]"
                              : (text.empty() ? "" : ".") + in_quotes(one.key);
        return text;
    }

    std::vector<Open> open_;
    std::string found_;
};

} // namespace

Json document(std::string_view text, const Bounds &bounds) {
    if (const auto refused = packing_refused(text))
        throw Wrong{"the file " + *refused};
    if (text.size() > bounds.bytes)
        wrong("the file", "is larger than " + std::to_string(bounds.bytes >> 20) + " MiB");
    check_depth(text, bounds.nesting);
    Duplicates duplicates;
    try {
        Json parsed = Json::parse(text, [&](int depth, Json::parse_event_t event, Json &value) {
            return duplicates(depth, event, value);
        });
        if (!duplicates.found().empty())
            throw Wrong{duplicates.found()};
        return parsed;
    } catch (const Json::parse_error &error) {
        // The parser's message counts columns in another way, and only its end has the expected
        // token.
        wrong(line_and_column(text, error.byte ? error.byte - 1 : 0),
              text.empty() ? "the file is empty" : "this is no JSON");
    } catch (const Json::exception &) {
        wrong("the file", "a number is too large");
    }
}

namespace {

/// Returns the end of a sentence that lists the known fields, and the field that was probably
/// meant.
std::string fields(std::string_view typed, std::initializer_list<std::string_view> keys) {
    const std::vector<std::string> all(keys.begin(), keys.end());
    const auto meant = nearest_word(typed, all);
    return "; there are " + listed(all) + (meant ? ", and perhaps '" + *meant + "' is meant" : "");
}

} // namespace

void Place::expect_object(std::initializer_list<std::string_view> keys) const {
    if (!value.is_object())
        wrong(where(), "is not an object");
    for (const auto &[key, unused] : value.items())
        if (std::ranges::find(keys, key) == keys.end())
            wrong(where(), "there is no field " + in_quotes(key) + " here" + fields(key, keys));
}

Place Place::at(const char *key) const {
    if (!has(key))
        wrong(where(), "the field '" + std::string(key) + "' is missing");
    return {value.at(key), path.empty() ? key : path + "." + key};
}

std::vector<Place> Place::items(std::size_t most) const {
    if (!value.is_array())
        wrong(where(), "is not a list");
    if (value.size() > most)
        wrong(where(), "has more than " + std::to_string(most) + " entries");
    std::vector<Place> all;
    for (std::size_t n = 0; n < value.size(); n++)
        all.push_back({value[n], path + "[" + std::to_string(n) + "]"});
    return all;
}

std::int64_t Place::number(std::int64_t least, std::int64_t most) const {
    constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
    // Many programs write whole numbers with a decimal point, 33333.0. The parser also returns a
    // float for a number that is too large for an integer.
    if (value.is_number_float()) {
        const double given = value.get<double>();
        if (given != std::trunc(given))
            wrong(where(), "is not a whole number");
        if (given > static_cast<double>(most) || given >= static_cast<double>(endless))
            wrong(where(), value.dump() + " is more than " + std::to_string(most));
        if (given < static_cast<double>(least) || given < -static_cast<double>(endless))
            wrong(where(), value.dump() + " is less than " + std::to_string(least));
        return static_cast<std::int64_t>(given);
    }
    if (!value.is_number_integer())
        wrong(where(), "is not a whole number");
    const bool fits = !value.is_number_unsigned() ||
                      value.get<std::uint64_t>() <= static_cast<std::uint64_t>(endless);
    const std::int64_t found = fits ? value.get<std::int64_t>() : endless;
    if (!fits || found < least || found > most)
        wrong(where(), value.dump() + " is not from " + std::to_string(least) + " to " +
                           std::to_string(most));
    return found;
}

std::string Place::text() const {
    if (!value.is_string())
        wrong(where(), "is not a text");
    return value.get<std::string>();
}

} // namespace nvdebug::base
