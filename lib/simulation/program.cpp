// SPDX-License-Identifier: MIT OR GPL-2.0
#include "program.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace simulation {
namespace {

using nvdebug::base::in_quotes;
using nvdebug::base::Place;
using nvdebug::base::wrong;

/// Of a program with all that it repeats: each item takes 40 bytes.
constexpr std::size_t most_items = 1'000'000;
constexpr std::int64_t most_rounds = 100'000;
/// 11 days, so that sums of times stay in range.
constexpr double longest_ns = 1e15;

double read_number(const Place &place) {
    if (!place.value.is_number())
        wrong(place.where(), "is not a number");
    const double number = place.value.get<double>();
    if (!(number >= 0))
        wrong(place.where(), "is less than 0");
    return number;
}

bool read_bool(const Place &place) {
    if (!place.value.is_boolean())
        wrong(place.where(), "is neither true nor false");
    return place.value.get<bool>();
}

/// Reads one program; its parts are added behind each other.
class Reader {
  public:
    Reader(std::size_t ranks, Program &program, Collected &collected)
        : ranks_(ranks), program_(program), collected_(collected) {}

    void read(const Place &place) {
        const auto items = place.items(most_items);
        if (items.empty())
            wrong(place.where(), "is empty");
        for (const Place &item : items)
            read_item(item);
    }

  private:
    void read_item(const Place &place) {
        if (!place.value.is_object())
            wrong(place.where(), "is not an object");
        constexpr std::array kinds = {"kernel_us", "collective_us", "join", "think_us", "repeat"};
        const auto count =
            std::ranges::count_if(kinds, [&](const char *key) { return place.has(key); });
        if (count != 1) {
            // A field that is unknown is more likely a typo than a kind that is missing.
            place.expect_object({"kernel_us", "collective_us", "join", "think_us", "repeat",
                                 "launch_us", "name", "overlap", "rounds", "program"});
            wrong(place.where(), "has not exactly one of 'kernel_us', 'collective_us', 'join', "
                                 "'think_us' and 'repeat'");
        }
        if (place.has("repeat"))
            return repeat(place);
        program_.push_back(place.has("kernel_us")       ? kernel(place)
                           : place.has("collective_us") ? collective(place)
                           : place.has("join")          ? join(place)
                                                        : think(place));
        check_size(place, 0);
    }

    void check_size(const Place &place, std::size_t more) const {
        if (program_.size() + more > most_items)
            wrong(place.where(), "the program has more than " + std::to_string(most_items) +
                                     " items with all that it repeats");
    }

    static Ns launch(const Place &place) {
        return place.has("launch_us") ? read_time(place.at("launch_us"), qos::us) : 0;
    }

    static Item kernel(const Place &place) {
        place.expect_object({"kernel_us", "launch_us"});
        return {.kind = Item::Kind::kernel,
                .time = read_time(place.at("kernel_us"), qos::us),
                .launch = launch(place)};
    }

    static Item think(const Place &place) {
        place.expect_object({"think_us"});
        return {.kind = Item::Kind::think, .time = read_time(place.at("think_us"), qos::us)};
    }

    static Item join(const Place &place) {
        place.expect_object({"join"});
        if (!read_bool(place.at("join")))
            wrong(place.at("join").where(), "is not true");
        return {.kind = Item::Kind::join};
    }

    Item collective(const Place &place) {
        place.expect_object({"collective_us", "name", "launch_us", "overlap", "rounds"});
        if (ranks_ < 2)
            wrong(place.where(), "a job of one GPU has no collectives");
        const std::int64_t usual =
            std::max<std::int64_t>(1, 2 * (static_cast<std::int64_t>(ranks_) - 1));
        const Item item{.kind = Item::Kind::collective,
                        .time = read_time(place.at("collective_us"), qos::us),
                        .launch = launch(place),
                        .rounds =
                            place.has("rounds") ? place.at("rounds").number(0, most_rounds) : usual,
                        .overlap = place.has("overlap") && read_bool(place.at("overlap"))};
        collected_.push_back({place.at("name").text(), item.rounds});
        return item;
    }

    void repeat(const Place &place) {
        place.expect_object({"repeat", "program"});
        const std::int64_t times = place.at("repeat").number(0, most_items);
        const std::size_t items = program_.size(), meetings = collected_.size();
        read(place.at("program"));
        if (times == 0) {
            program_.resize(items);
            collected_.resize(meetings);
        }
        const std::size_t length = program_.size() - items, met = collected_.size() - meetings;
        for (std::int64_t n = 1; n < times; n++) {
            check_size(place, length);
            for (std::size_t k = 0; k < length; k++)
                program_.push_back(Item(program_[items + k]));
            for (std::size_t k = 0; k < met; k++)
                collected_.push_back(Meeting(collected_[meetings + k]));
        }
    }

    const std::size_t ranks_;
    Program &program_;
    Collected &collected_;
};

} // namespace

Ns read_time(const Place &place, Ns unit) {
    const double ns = read_number(place) * static_cast<double>(unit);
    if (ns > longest_ns)
        wrong(place.where(), "is longer than 11 days");
    return std::llround(ns);
}

Part read_jitter(const Place &place) {
    const double jitter = read_number(place);
    if (jitter > 1)
        wrong(place.where(), "is more than 1");
    return std::llround(jitter * static_cast<double>(qos::whole));
}

Program read_program(const Place &place, std::size_t ranks, Collected &collected) {
    Program program;
    Reader(ranks, program, collected).read(place);
    return program;
}

void check_same(const Place &place, const Collected &collected, const Collected &expected) {
    const std::size_t common = std::min(collected.size(), expected.size());
    for (std::size_t n = 0; n < common; n++) {
        if (collected[n].name != expected[n].name)
            wrong(place.where(), "collective " + std::to_string(n) + " is " +
                                     in_quotes(collected[n].name) + ", and " +
                                     in_quotes(expected[n].name) + " in 'program'");
        if (collected[n].rounds != expected[n].rounds)
            wrong(place.where(), "collective " + std::to_string(n) + ", " +
                                     in_quotes(collected[n].name) + ", has " +
                                     std::to_string(collected[n].rounds) + " rounds, and " +
                                     std::to_string(expected[n].rounds) + " in 'program'");
    }
    if (collected.size() != expected.size())
        wrong(place.where(), "has " + std::to_string(collected.size()) +
                                 " collectives, and 'program' has " +
                                 std::to_string(expected.size()));
}

} // namespace simulation
