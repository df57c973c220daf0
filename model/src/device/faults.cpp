// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/faults.hpp"

#include "base/error.hpp"
#include "base/parse.hpp"
#include "regs/pri.hpp"

namespace nvmodel {
namespace {

constexpr std::uint64_t bar0_size = 16 << 20;

std::uint64_t number(const std::string &word, std::uint64_t max) {
    const auto value = parse_number(word);
    if (!value)
        throw ConfigError("fault: \"" + word + "\" is not a number");
    if (*value > max)
        throw ConfigError("fault: " + word + " is too large");
    return *value;
}

std::uint64_t positive(const std::string &word) {
    const std::uint64_t value = number(word, UINT64_MAX);
    if (value == 0)
        throw ConfigError("fault: EVERY and TIMES must not be 0");
    return value;
}

std::uint64_t register_offset(const std::string &word) {
    const std::uint64_t offset = number(word, bar0_size - 4);
    if (offset % 4 != 0)
        throw ConfigError("fault: offset " + word + " is not a multiple of 4");
    return offset;
}

/// The 32-bit register that an access of BAR0 lies in.
std::uint64_t register_of(const Access &access) {
    return access.offset & ~std::uint64_t{3};
}

} // namespace

void Faults::add(std::span<const std::string> words) {
    const std::string kind = words.empty() ? "" : words.front();
    const auto args = words.empty() ? words : words.subspan(1);
    const auto expect = [&](std::size_t count) {
        if (args.size() != count)
            throw ConfigError("fault " + kind + ": expected " + std::to_string(count) +
                              " arguments");
    };
    if (kind == "none") {
        expect(0);
        *this = Faults{};
    } else if (kind == "all-ones") {
        expect(0);
        ones_after_ = 0;
    } else if (kind == "all-ones-after") {
        expect(1);
        ones_after_ = number(args[0], UINT64_MAX);
    } else if (kind == "pri-error") {
        expect(0);
        pri_error_ = true;
    } else if (kind == "read") {
        expect(2);
        const auto offset = register_offset(args[0]);
        replaced_[offset] = static_cast<std::uint32_t>(number(args[1], UINT32_MAX));
    } else if (kind == "stuck") {
        expect(1);
        stuck_.insert(register_offset(args[0]));
    } else if (kind == "move-runlist") {
        const bool limited = args.size() == 3;
        expect(limited ? 3 : 2);
        const auto runlist = static_cast<unsigned>(number(args[0], 126));
        const std::uint64_t times = limited ? positive(args[2]) : UINT64_MAX;
        move_runlist_.push_back({runlist, {positive(args[1]), times}});
    } else if (kind == "move-window") {
        expect(1);
        move_window_.push_back({positive(args[0])});
    } else {
        throw ConfigError("fault: \"" + kind + "\" is not known (see docs/model.md)");
    }
}

bool Faults::takes_off_the_bus() {
    if (!ones_after_)
        return false;
    if (*ones_after_ == 0)
        return true;
    *ones_after_ -= 1;
    return false;
}

std::optional<std::uint64_t> Faults::replaces(const Access &access) const {
    if (access.bar != Bar::registers)
        return std::nullopt;
    if (pri_error_)
        return regs::pri::no_client;
    const auto found = replaced_.find(register_of(access));
    if (found == replaced_.end())
        return std::nullopt;
    return found->second >> (8 * (access.offset - found->first));
}

bool Faults::drops(const Access &access) const {
    return access.bar == Bar::registers && stuck_.contains(register_of(access));
}

void Faults::after_pramin_read(const Driver &driver) {
    for (MoveRunlist &move : move_runlist_)
        if (move.when.due())
            driver.resubmit(move.runlist);
    for (Repeated &move : move_window_)
        if (move.due())
            driver.move_window();
}

} // namespace nvmodel
