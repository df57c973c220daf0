// SPDX-License-Identifier: MIT OR GPL-2.0
// A task set's file. Text may be hostile: it is bounded in length and depth before it is parsed, and every
// error names its place, by line and column or by path.
#include <algorithm>
#include <initializer_list>
#include <set>

#include "taskset.hpp"

namespace stgm {
namespace {

using Json = nlohmann::json; // finds keys among many in little time

/** The first thing that is wrong. */
struct Wrong {
    std::string sentence;
};

[[noreturn]] void wrong(const std::string &place, const std::string &what) { throw Wrong{place + ": " + what}; }

std::string line_and_column(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const std::size_t line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    const std::size_t begin = before.rfind('\n') + 1; // npos + 1 is 0
    return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - begin + 1);
}

/** Text of the file in a sentence: short, and nothing that steers a terminal. */
std::string in_quotes(std::string_view text) {
    std::string shown;
    for (const char c : text.substr(0, 40))
        shown += c < ' ' || c == 0x7f || static_cast<unsigned char>(c) >= 0x80 ? '?' : c;
    return "'" + shown + (text.size() > 40 ? "…'" : "'");
}

void check_depth(std::string_view text) {
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
            if (++depth > limit::nesting)
                wrong(line_and_column(text, at),
                      "lists and objects are nested deeper than " + std::to_string(limit::nesting));
        } else if ((c == ']' || c == '}') && depth) {
            depth--;
        }
    }
}

/** Finds keys that an object has twice: of those nlohmann::json keeps the last. */
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

Json document(std::string_view text) {
    if (text.size() > limit::file_bytes)
        wrong("the file", "is larger than " + std::to_string(limit::file_bytes >> 20) + " MiB");
    check_depth(text);
    Duplicates duplicates;
    try {
        Json parsed = Json::parse(text, [&](int depth, Json::parse_event_t event, Json &value) {
            return duplicates(depth, event, value);
        });
        if (!duplicates.found().empty())
            throw Wrong{duplicates.found()};
        return parsed;
    } catch (const Json::parse_error &error) {
        // What it says of the place counts otherwise; what it expected is in its last part.
        wrong(line_and_column(text, error.byte ? error.byte - 1 : 0),
              text.empty() ? "the file is empty" : "this is no JSON");
    } catch (const Json::exception &) {
        wrong("the file", "a number is too large");
    }
}

/** A value and where it is. */
struct Place {
    const Json &value;
    std::string path;

    std::string where() const { return path.empty() ? "the file" : path; }

    void expect_object(std::initializer_list<std::string_view> keys) const {
        if (!value.is_object())
            wrong(where(), "is not an object");
        for (const auto &[key, unused] : value.items())
            if (std::ranges::find(keys, key) == keys.end())
                wrong(where(), "there is no field " + in_quotes(key) + " here");
    }

    bool has(const char *key) const { return value.contains(key); }

    Place at(const char *key) const {
        if (!has(key))
            wrong(where(), "the field '" + std::string(key) + "' is missing");
        return {value.at(key), path.empty() ? key : path + "." + key};
    }

    std::vector<Place> items(std::size_t most) const {
        if (!value.is_array())
            wrong(where(), "is not a list");
        if (value.size() > most)
            wrong(where(), "has more than " + std::to_string(most) + " entries");
        std::vector<Place> all;
        for (std::size_t n = 0; n < value.size(); n++)
            all.push_back({value[n], path + "[" + std::to_string(n) + "]"});
        return all;
    }

    std::int64_t number(std::int64_t least, std::int64_t most) const {
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

    Time time(Time least = 0) const { return number(least, longest_time); }

    std::string text() const {
        if (!value.is_string())
            wrong(where(), "is not a text");
        return value.get<std::string>();
    }
};

std::vector<Time> kernel(const Place &place) {
    if (!place.value.is_array())
        return {place.time()};
    std::vector<Time> times;
    for (const Place &item : place.items(limit::kernel_entries)) {
        times.push_back(item.time());
        if (times.size() > 1 && times.back() > times[times.size() - 2])
            wrong(item.where(), "a kernel's time increases from " + std::to_string(times[times.size() - 2]) +
                                    " to " + std::to_string(times.back()) + " with one SM more");
    }
    if (times.empty())
        wrong(place.where(), "is empty");
    return times;
}

Segment segment(const Place &place) {
    place.expect_object({"cpu", "gpu"});
    if (place.has("cpu") == place.has("gpu"))
        wrong(place.where(), "a segment has either 'cpu' or 'gpu'");
    if (place.has("cpu"))
        return {.cpu = place.at("cpu").time()};
    const Place gpu = place.at("gpu");
    gpu.expect_object({"to_device", "kernel", "from_device"});
    return {.gpu = true,
            .to_device = gpu.has("to_device") ? gpu.at("to_device").time() : 0,
            .from_device = gpu.has("from_device") ? gpu.at("from_device").time() : 0,
            .kernel = kernel(gpu.at("kernel"))};
}

std::vector<std::uint32_t> sms(const Place &place, std::uint32_t all) {
    std::vector<std::uint32_t> found;
    for (const Place &item : place.items(limit::sms)) {
        const auto sm = static_cast<std::uint32_t>(item.number(0, std::int64_t{all} - 1));
        if (std::ranges::find(found, sm) != found.end())
            wrong(item.where(), "SM " + std::to_string(sm) + " is there twice");
        found.push_back(sm);
    }
    std::ranges::sort(found);
    return found;
}

Task task(const Place &place, const TaskSet &set) {
    place.expect_object({"name", "period", "deadline", "priority", "segments", "core", "sms"});
    Task task;
    task.name = place.at("name").text();
    if (task.name.empty() || task.name.size() > 200)
        wrong(place.at("name").where(), "a name has 1 to 200 bytes");
    task.period = place.at("period").time(1);
    task.deadline = place.has("deadline") ? place.at("deadline").time(1) : task.period;
    if (task.deadline > task.period)
        wrong(place.at("deadline").where(), "the deadline " + std::to_string(task.deadline) +
                                                " is after the period " + std::to_string(task.period));
    if (place.has("priority"))
        task.priority = place.at("priority").number(std::numeric_limits<std::int64_t>::min(), endless);
    for (const Place &item : place.at("segments").items(limit::segments))
        task.segments.push_back(segment(item));
    if (task.segments.empty())
        wrong(place.at("segments").where(), "is empty");
    if (task.uses_gpu() && !set.sms)
        wrong(place.at("segments").where(), "a GPU segment, and 'sms' of the set is 0");
    // What is null was not allocated, as what is absent.
    if (place.has("core") && !place.at("core").value.is_null())
        task.core = static_cast<std::uint32_t>(place.at("core").number(0, std::int64_t{set.cores} - 1));
    if (place.has("sms") && !place.at("sms").value.is_null()) {
        task.sms = sms(place.at("sms"), set.sms);
        if (!task.uses_gpu() && !task.sms->empty())
            wrong(place.at("sms").where(), "a task without GPU segments has no SMs");
        if (task.uses_gpu() && task.sms->empty())
            wrong(place.at("sms").where(), "a task with GPU segments has one SM at least");
    }
    return task;
}

TaskSet task_set(const Place &place) {
    place.expect_object({"schema", "schema_version", "time_unit", "cores", "sms", "tasks"});
    if (const Place schema = place.at("schema"); schema.text() != "nvstgm/taskset")
        wrong(schema.where(), in_quotes(schema.text()) + " is not 'nvstgm/taskset'");
    if (const Place version = place.at("schema_version"); version.text() != "1.0")
        wrong(version.where(), in_quotes(version.text()) + " is not '1.0', the version that can be read");
    TaskSet set;
    set.time_unit = place.at("time_unit").text();
    if (set.time_unit != "us" && set.time_unit != "tick")
        wrong(place.at("time_unit").where(), in_quotes(set.time_unit) + " is neither 'us' nor 'tick'");
    set.cores = static_cast<std::uint32_t>(place.at("cores").number(1, limit::cores));
    set.sms = static_cast<std::uint32_t>(place.at("sms").number(0, limit::sms));
    std::set<std::string> names;
    for (const Place &item : place.at("tasks").items(limit::tasks)) {
        Task one = task(item, set);
        if (!names.insert(one.name).second)
            wrong(item.at("name").where(), "another task is called " + in_quotes(one.name));
        if (!set.tasks.empty() && set.tasks.front().priority.has_value() != one.priority.has_value())
            wrong(item.where(), "either all tasks have a 'priority' or none has");
        set.tasks.push_back(std::move(one));
    }
    if (set.tasks.empty())
        wrong(place.at("tasks").where(), "is empty");
    return set;
}

} // namespace

Outcome<TaskSet> parse(std::string_view text) {
    try {
        const Json parsed = document(text);
        return task_set({parsed, ""});
    } catch (const Wrong &error) {
        return tl::unexpected(error.sentence);
    }
}

} // namespace stgm
