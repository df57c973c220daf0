// SPDX-License-Identifier: MIT OR GPL-2.0
// Conditions that the library's answers meet, whatever is in the files.
#ifndef NVDEBUG_TESTS_FUZZ_LIB_ANSWERS_HPP
#define NVDEBUG_TESTS_FUZZ_LIB_ANSWERS_HPP

#include "nvdebug/nvdebug.hpp"

#include "fuzz.hpp"

#include <algorithm>
#include <memory>

namespace fuzz {

/** Checks that the error is one line for people, printable whatever the file had. */
inline void sentence(const nvdebug::Error &error) {
    FUZZ_REQUIRE(!error.sentence.empty());
    for (const unsigned char c : error.sentence)
        FUZZ_REQUIRE(c >= ' ' && c != 0x7f);
}

inline void answers(const nvdebug::Runlist &list) {
    double sum = 0;
    for (const nvdebug::TsgShare &tsg : nvdebug::expected_shares(list)) {
        FUZZ_REQUIRE(tsg.headers >= 1);
        FUZZ_REQUIRE(!tsg.share || (*tsg.share >= 0 && *tsg.share <= 1.000001));
        sum += tsg.share.value_or(0);
    }
    FUZZ_REQUIRE(sum <= 1.000001);
    std::size_t channels = 0;
    for (const auto &item : list.items)
        if (const auto *const tsg = std::get_if<nvdebug::Tsg>(&item))
            channels += tsg->channels.size();
        else
            channels += std::holds_alternative<nvdebug::Channel>(item);
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list))
        channels -= listed.entries;
    FUZZ_REQUIRE(channels == 0);
    FUZZ_REQUIRE(nvdebug::tsgs_of(list).size() == nvdebug::expected_shares(list).size());
}

inline void answers(const std::vector<nvdebug::AddressSpaceUse> &uses) {
    for (const nvdebug::SharedTsg &tsg : nvdebug::shared_tsgs(uses))
        FUZZ_REQUIRE(tsg.spaces > 1 && !tsg.uses.empty());
}

inline void answers(const std::vector<nvdebug::Engine> &engines,
                    const nvdebug::CopyTopology *copy) {
    std::size_t driven = 0;
    for (const auto &[runlist, members] : nvdebug::engines_by_runlist(engines))
        driven += members.size();
    FUZZ_REQUIRE(driven <= engines.size());
    for (const nvdebug::Engine &engine : engines) {
        FUZZ_REQUIRE(nvdebug::find_engine(engines, engine.name));
        FUZZ_REQUIRE(nvdebug::share_runlist(engine, engines.front()) ==
                     nvdebug::share_runlist(engines.front(), engine));
    }
    const auto groups = nvdebug::independent_runlists(engines, copy);
    FUZZ_REQUIRE(copy || !groups.copy_known);
    for (const auto &group : groups.groups)
        FUZZ_REQUIRE(!group.empty() && std::is_sorted(group.begin(), group.end()));
    if (!copy)
        return;
    for (const nvdebug::CopyContention &contention : nvdebug::copy_contention(*copy))
        FUZZ_REQUIRE(contention.pces && contention.lces.size() >= 2);
}

} // namespace fuzz

#endif
