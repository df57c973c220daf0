// SPDX-License-Identifier: MIT OR GPL-2.0
#include "words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace nvdebug::driver {

// --- words of a driver ---

Result<void> DriverWords::registers(std::span<const std::uint32_t> offsets,
                                    std::span<std::uint32_t> values) {
    return gpu_->read(offsets, values);
}

namespace {

Error no_such_memory() {
    return {ErrorCode::io, EFAULT, "", "there is no such video memory"};
}

} // namespace

Result<const Window *> DriverWords::window_at(std::uint64_t address) {
    const auto known = std::ranges::find_if(windows_, [&](const auto &window) {
        return address >= window->begin() && address < window->end();
    });
    if (known != windows_.end()) {
        windows_.splice(windows_.begin(), windows_, known);
        return windows_.front().get();
    }
    const std::uint64_t begin = address - address % window_bytes;
    const std::uint64_t left = gpu_->memory_bytes() > begin ? gpu_->memory_bytes() - begin : 0;
    auto window =
        gpu_->map(begin, static_cast<std::size_t>(std::min<std::uint64_t>(left, window_bytes)));
    if (!window)
        return tl::unexpected(std::move(window).error());
    if (windows_.size() == windows_max)
        windows_.pop_back();
    windows_.push_front(std::move(*window));
    return windows_.front().get();
}

Result<void> DriverWords::memory(std::uint64_t address, std::span<std::uint32_t> words) {
    // 0 means that memory cannot be read, and map() returns the reason.
    const std::uint64_t all = gpu_->memory_bytes();
    if (all && (address > all || words.size_bytes() > all - address))
        return tl::unexpected(no_such_memory());
    while (!words.empty()) {
        const auto window = window_at(address);
        if (!window)
            return tl::unexpected(window.error());
        const std::uint64_t left = ((*window)->end() - address) / sizeof(std::uint32_t);
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left, words.size()));
        (*window)->copy(address, words.first(n));
        words = words.subspan(n);
        address += n * sizeof(std::uint32_t);
    }
    return {};
}

// --- words of a record ---

namespace {

/// Appends the value in hexadecimal digits. This path is fast, since each word that is read takes
/// it.
void append(std::string &text, std::uint64_t value) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), value, 16).ptr;
    text.append(digits.begin(), end);
}

} // namespace

void Record::add_register(std::uint32_t offset, std::uint32_t value) {
    append(text_, offset);
    text_ += ' ';
    append(text_, value);
    text_ += '\n';
}

void Record::add_memory(std::uint64_t address, std::span<const std::uint32_t> words) {
    append(text_, address);
    text_ += ':';
    for (const std::uint32_t word : words) {
        text_ += ' ';
        append(text_, word);
    }
    text_ += '\n';
}

namespace {

Error senseless(std::string_view line) {
    constexpr std::size_t enough = 60;
    return {ErrorCode::malformed, 0, "",
            "'" + std::string(line.substr(0, enough)) + "' is no line of a record of words"};
}

/// Takes a hexadecimal number, and the spaces before it.
template <typename T>
bool take(std::string_view &rest, T &value) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, 16);
    if (error != std::errc())
        return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
}

/// Gets the next recorded value. Returns false if there is none.
bool next(std::deque<std::uint32_t> &values, std::uint32_t &value) {
    if (values.empty())
        return false;
    value = values.front();
    if (values.size() > 1)
        values.pop_front();
    return true;
}

} // namespace

Result<void> RecordedWords::add(std::string_view record) {
    while (!record.empty()) {
        std::string_view line = record.substr(0, record.find('\n'));
        const std::string_view whole = line;
        record.remove_prefix(std::min(line.size() + 1, record.size()));
        std::uint64_t at = 0;
        std::uint32_t word = 0;
        if (!take(line, at) || at % sizeof(word))
            return tl::unexpected(senseless(whole));
        const bool memory = line.starts_with(':');
        if (memory)
            line.remove_prefix(1);
        do {
            if (!take(line, word))
                return tl::unexpected(senseless(whole));
            if (memory)
                memory_[at].push_back(word);
            else
                registers_[static_cast<std::uint32_t>(at)].push_back(word);
            at += sizeof(word);
        } while (memory && !line.empty());
        if (!line.empty())
            return tl::unexpected(senseless(whole));
    }
    return {};
}

void RecordedWords::keep_last() {
    const auto trim = [](auto &all) {
        for (auto &[at, values] : all)
            values.erase(values.begin(), values.end() - 1);
    };
    trim(registers_);
    trim(memory_);
}

Result<void> RecordedWords::registers(std::span<const std::uint32_t> offsets,
                                      std::span<std::uint32_t> values) {
    for (std::size_t i = 0; i < offsets.size(); i++) {
        const auto known = registers_.find(offsets[i]);
        if (known == registers_.end() || !next(known->second, values[i]))
            values[i] = ~std::uint32_t{0};
    }
    return {};
}

Result<void> RecordedWords::memory(std::uint64_t address, std::span<std::uint32_t> words) {
    for (std::uint32_t &word : words) {
        const auto known = memory_.find(address);
        if (known == memory_.end() || !next(known->second, word))
            return tl::unexpected(
                Error{ErrorCode::io, EFAULT, "", "that memory is not in the record"});
        address += sizeof(word);
    }
    return {};
}

} // namespace nvdebug::driver
