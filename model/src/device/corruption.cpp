// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/corruption.hpp"

#include <map>
#include <random>

namespace nvmodel {
namespace {

/// Most words of most structures are 0; finding a word that is not is worth a few tries.
constexpr unsigned tries = 8;

} // namespace

std::vector<Corruption::Flip> Corruption::flip(Memory &memory,
                                               const std::vector<Structure> &structures,
                                               std::uint64_t seed, unsigned count) {
    std::map<std::string_view, std::vector<const Structure *>> by_kind;
    for (const Structure &structure : structures)
        by_kind[structure.what].push_back(&structure);
    std::vector<const std::vector<const Structure *> *> kinds;
    for (const auto &[what, all] : by_kind)
        kinds.push_back(&all);

    std::mt19937_64 random(seed);
    const auto below = [&random](std::size_t limit) {
        return static_cast<std::size_t>(random() % limit);
    };
    std::vector<Flip> flips;
    while (!kinds.empty() && flips.size() < count) {
        const auto &kind = *kinds[below(kinds.size())];
        PhysicalAddress at;
        std::uint32_t word = 0;
        std::string_view what;
        for (unsigned i = 0; i < tries && word == 0; ++i) {
            const Structure &structure = *kind[below(kind.size())];
            what = structure.what;
            at = {structure.at.aperture, structure.at.address + 4 * below(structure.size / 4)};
            word = static_cast<std::uint32_t>(memory.read_value(at, 4).value_or(0));
        }
        const auto bit = static_cast<unsigned>(below(32));
        const std::uint32_t flipped = word ^ 1U << bit;
        if (memory.write_value(at, flipped, 4))
            changes_.push_back({at, word, flipped, what == structure_context});
        flips.push_back({what, {at.aperture, at.address + bit / 8}, bit % 8});
    }
    return flips;
}

void Corruption::undo(Memory &memory) {
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
        const auto now = static_cast<std::uint32_t>(memory.read_value(change->at, 4).value_or(0));
        if (now == change->after || change->counts)
            static_cast<void>(
                memory.write_value(change->at, now - change->after + change->before, 4));
    }
    changes_.clear();
}

} // namespace nvmodel
