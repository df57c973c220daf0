// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/faults.hpp"

#include "base/error.hpp"
#include "base/parse.hpp"
#include "blocks/address_map.hpp"
#include "regs/pri.hpp"

#include <array>

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

/// Returns the 32-bit register that an access of BAR0 lies in.
std::uint64_t register_of(const Access &access) {
    return access.offset & ~std::uint64_t{3};
}

std::uint32_t word32(const std::string &word) {
    return static_cast<std::uint32_t>(number(word, UINT32_MAX));
}

std::uint32_t error_word(const std::string &word) {
    const std::uint32_t value = word32(word);
    if ((value & regs::pri::error_mask) != regs::pri::error_mark)
        throw ConfigError("fault pri-error: " + word + " is not 0xbad.....");
    return value;
}

double share(const std::string &word) {
    const auto value = parse_decimal(word);
    if (!value || *value > 1)
        throw ConfigError("fault random: \"" + word + "\" is not a rate of 0 to 1");
    return *value;
}

RandomReads::Kind random_kind(const std::string &word) {
    const auto kind = RandomReads::kind_of(word);
    if (!kind)
        throw ConfigError("fault random: \"" + word + "\" is not ones, pri-error or flip");
    return *kind;
}

/// Returns the part of a 32-bit word that an access at some offset in it reads; behind its end the
/// word begins again.
std::uint64_t part_of(std::uint32_t word, const Access &access) {
    return (std::uint64_t{word} << 32 | word) >> (8 * (access.offset % 4));
}

} // namespace

/// Parses AFTER [TIMES].
Faults::Stretch Faults::stretch_of(std::span<const std::string> args) {
    Stretch stretch{.after = number(args[0], UINT64_MAX)};
    if (args.size() > 1)
        stretch.times = positive(args[1]);
    return stretch;
}

void Faults::add_block(std::string_view name, std::uint32_t word) {
    bool known = name == name_of(Bar::framebuffer) || name == name_of(Bar::instance);
    for (unsigned i = 0; i < block_names; ++i)
        known |= name == name_of(static_cast<BlockName>(i));
    if (!known)
        throw ConfigError("fault: \"" + std::string(name) + "\" is not a block of registers");
    blocks_.insert_or_assign(std::string(name), word);
}

/// Parses RUNLIST EVERY [TIMES].
Faults::RunlistEvent Faults::runlist_event(std::span<const std::string> args) {
    const auto runlist = static_cast<unsigned>(number(args[0], 126));
    return {runlist, {positive(args[1]), args.size() == 3 ? positive(args[2]) : UINT64_MAX}};
}

void Faults::add(std::span<const std::string> words) {
    const std::string kind = words.empty() ? "" : words.front();
    const auto args = words.empty() ? words : words.subspan(1);
    const auto expect = [&](std::size_t least, std::size_t most) {
        if (args.size() >= least && args.size() <= most)
            return;
        throw ConfigError("fault " + kind + ": expected " + std::to_string(least) +
                          (most > least ? " to " + std::to_string(most) : "") + " arguments");
    };
    if (kind == "none") {
        expect(0, 0);
        *this = Faults{};
    } else if (kind == "all-ones") {
        expect(0, 1);
        if (args.empty())
            gone_ = Stretch{.after = 0};
        else
            add_block(args[0], regs::pri::off_the_bus);
    } else if (kind == "all-ones-after") {
        expect(1, 2);
        gone_ = stretch_of(args);
    } else if (kind == "freeze-after") {
        expect(1, 2);
        frozen_ = stretch_of(args);
    } else if (kind == "lose-writes-after") {
        expect(1, 2);
        lost_writes_ = stretch_of(args);
    } else if (kind == "wrong-after") {
        expect(2, 3);
        const std::array counted{args[0], args.size() == 3 ? args[2] : "1"};
        wrong_ = {word32(args[1]), stretch_of(counted)};
    } else if (kind == "pri-error") {
        expect(0, 2);
        if (args.size() == 2)
            add_block(args[0], error_word(args[1]));
        else
            everywhere_ = args.empty() ? regs::pri::no_client : error_word(args[0]);
    } else if (kind == "read") {
        expect(2, 2);
        replaced_[register_offset(args[0])] = word32(args[1]);
    } else if (kind == "set") {
        expect(2, 2);
        bits_[register_offset(args[0])].set |= word32(args[1]);
    } else if (kind == "clear") {
        expect(2, 2);
        bits_[register_offset(args[0])].clear |= word32(args[1]);
    } else if (kind == "random") {
        expect(2, 3);
        random_.emplace(number(args[0], UINT64_MAX), share(args[1]),
                        random_kind(args.size() == 3 ? args[2] : ""));
    } else if (kind == "stuck") {
        expect(1, 1);
        stuck_.insert(register_offset(args[0]));
    } else if (kind == "move-runlist" || kind == "rotate-runlist") {
        expect(2, 3);
        (kind == "move-runlist" ? move_runlist_ : rotate_runlist_).push_back(runlist_event(args));
    } else if (kind == "move-window") {
        expect(1, 1);
        move_window_.push_back({positive(args[0])});
    } else {
        throw ConfigError(
            "fault: \"" + kind +
            "\" is not known; there are all-ones, all-ones-after, clear, freeze-after, "
            "lose-writes-after, move-runlist, move-window, none, pri-error, random, "
            "read, rotate-runlist, set, stuck, wrong-after (see docs/model.md)");
    }
}

Faults::Mood Faults::next_access() {
    accesses_ += 1;
    Mood mood;
    mood.gone = gone_ && gone_->next();
    mood.frozen = frozen_ && frozen_->next();
    hits_ += mood.gone || mood.frozen;
    return mood;
}

std::optional<std::uint64_t> Faults::replaces(const Access &access, std::string_view block) const {
    if (const auto found = blocks_.find(block); found != blocks_.end())
        return part_of(found->second, access);
    if (access.bar != Bar::registers)
        return std::nullopt;
    if (everywhere_)
        return part_of(*everywhere_, access);
    const auto found = replaced_.find(register_of(access));
    if (found == replaced_.end())
        return std::nullopt;
    return found->second >> (8 * (access.offset - found->first));
}

std::uint64_t Faults::with_bits(const Access &access, std::uint64_t value) const {
    const auto found = bits_.find(register_of(access));
    if (access.bar != Bar::registers || found == bits_.end())
        return value;
    const unsigned skipped = 8 * static_cast<unsigned>(access.offset % 4);
    return (value & ~std::uint64_t{found->second.clear >> skipped}) | found->second.set >> skipped;
}

std::uint64_t Faults::read(const Access &access, std::string_view block,
                           const std::function<std::uint64_t()> &device) {
    if (const auto replaced = replaces(access, block)) {
        hits_ += 1;
        return *replaced & ones(access.size);
    }
    const std::uint64_t value = device();
    std::uint64_t seen = with_bits(access, value);
    if (wrong_ && wrong_->reads.next())
        seen = part_of(wrong_->value, access);
    if (random_)
        seen = random_->instead_of(seen, 8 * access.size).value_or(seen);
    seen &= ones(access.size);
    hits_ += seen != (value & ones(access.size));
    return seen;
}

bool Faults::drops(const Access &access) {
    const bool lost = lost_writes_ && lost_writes_->next();
    const bool stuck = access.bar == Bar::registers && stuck_.contains(register_of(access));
    hits_ += lost || stuck;
    return lost || stuck;
}

void Faults::after_pramin_read(const Driver &driver) {
    for (RunlistEvent &move : move_runlist_)
        if (move.when.due()) {
            hits_ += 1;
            driver.resubmit(move.runlist);
        }
    for (RunlistEvent &rotation : rotate_runlist_)
        if (rotation.when.due()) {
            hits_ += 1;
            driver.rotate(rotation.runlist);
        }
    for (Repeated &move : move_window_)
        if (move.due()) {
            hits_ += 1;
            driver.move_window();
        }
}

} // namespace nvmodel
