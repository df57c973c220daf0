// SPDX-License-Identifier: MIT OR GPL-2.0
#include "process.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace nvdebug::base {
namespace {

/// Returns the number that is the whole of @p text.
template <typename T>
std::optional<T> number(std::string_view text) {
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && error == std::errc() && end == text.data() + text.size()
               ? std::optional(value)
               : std::nullopt;
}

} // namespace

std::string_view stat_field(std::string_view stat, int number) {
    constexpr int first = 3;
    const std::size_t name_end = stat.rfind(')');
    if (name_end == stat.npos)
        return {};
    std::string_view rest = stat.substr(name_end + 1);
    std::string_view word;
    for (int field = first; field <= number; field++) {
        rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
        word = rest.substr(0, rest.find_first_of(" \n"));
        rest.remove_prefix(word.size());
    }
    return word;
}

bool has_first_thread_ended(std::string_view stat) {
    constexpr int letter = 3;
    const std::string_view state = stat_field(stat, letter);
    return state == "Z" || state == "X";
}

bool has_ended(std::string_view stat) {
    constexpr int num_threads = 20; // num_threads counts the first thread until all threads have
                                    // ended
    return has_first_thread_ended(stat) &&
           number<std::uint64_t>(stat_field(stat, num_threads)).value_or(0) <= 1;
}

std::optional<ProcessState> state_of(std::uint32_t pid) {
    constexpr int ppid = 4, start = 22;
    const int file =
        ::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return std::nullopt;
    std::array<char, 4096> text{};
    const ssize_t got = ::read(file, text.data(), text.size());
    ::close(file);
    const std::string_view stat(text.data(), static_cast<std::size_t>(got > 0 ? got : 0));
    const auto parent = number<std::uint32_t>(stat_field(stat, ppid));
    const auto started = number<std::uint64_t>(stat_field(stat, start));
    if (!parent || !started)
        return std::nullopt;
    return ProcessState{{pid, *started}, *parent, has_ended(stat)};
}

bool lives(const Birth &process) {
    const auto now = state_of(process.pid);
    return now && now->birth == process && !now->has_ended;
}

std::vector<ProcessState> all_processes() {
    constexpr std::size_t most = 0x40000;
    std::vector<ProcessState> all;
    std::error_code error;
    for (std::filesystem::directory_iterator at("/proc", error), end;
         !error && at != end && all.size() < most; at.increment(error)) {
        const auto pid = number<std::uint32_t>(at->path().filename().native());
        const auto state = pid ? state_of(*pid) : std::nullopt;
        if (state && !state->has_ended)
            all.push_back(*state);
    }
    return all;
}

std::optional<std::uint32_t> parent_of(std::uint32_t pid) {
    const auto state = state_of(pid);
    return state ? std::optional(state->parent) : std::nullopt;
}

bool descends_from(std::uint32_t pid, std::uint32_t ancestor) {
    constexpr int deepest = 1000; // a bound, because processes come and go during the walk
    std::optional<std::uint32_t> at = pid;
    for (int depth = 0; depth < deepest && at && *at; depth++, at = parent_of(*at))
        if (*at == ancestor)
            return true;
    return false;
}

} // namespace nvdebug::base
