// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Cases for the quota machine: what kernels could issue, and where their blocks are
 * (docs/quotas.md).
 */
#ifndef NVDEBUG_LAB_QUOTAS_CASES_HPP
#define NVDEBUG_LAB_QUOTAS_CASES_HPP

#include <optional>
#include <string>
#include <vector>

#include "lab/quotas/machine/machine.hpp"
#include "lib/base/strict_json.hpp"

namespace quotas {

using nvdebug::base::Json;

/** In each of the cycles from, from + every, … before to, `count` warp instructions can be issued.
 */
struct Offer {
    std::optional<std::size_t> sm; ///< none: on each SM
    std::size_t kernel = 0;
    std::int64_t from = 0, to = 0, every = 1, count = 1; ///< cycles from the begin of the span
    std::vector<int>
        lanes; ///< by cycle of the offer; after the last item, the first one follows again
};

/** The kernel has no block on the SM from a cycle to the next epoch. */
struct Exit {
    std::size_t sm = 0, kernel = 0;
    std::int64_t at = 0; ///< cycles from the begin of the span
};

/** Offers and exits in a time as long as an epoch. */
struct Span {
    std::vector<Offer> offers;             ///< tried in this order
    std::vector<Exit> exits;               ///< by time
    std::optional<qos::Table> blocks = {}; ///< from the first epoch on that begins in the span
};

struct Case {
    Json id;
    qos::Shape shape;
    qos::Table blocks; ///< when the first epoch begins
    std::vector<Span> spans;
    std::string scheme_name;
    qos::Scheme scheme = qos::Scheme::naive;
    Json readings_given;
    qos::Readings readings;
    std::string unsupported; ///< a sentence on the first reading that is not known; empty: none
};

/** Reads a whole file of cases. Throws nvdebug::base::Wrong. */
std::vector<Case> parse(std::string_view text);

namespace limit {
inline constexpr std::size_t file_bytes = 256 << 20, nesting = 12, cases = 100'000, sms = 1'024,
                             kernels = 64, spans = 1'000'000, offers = 10'000, exits = 100'000,
                             lanes = 1'000'000;
inline constexpr std::int64_t slots = 64, cycles = 1'000'000'000, blocks = 1'000'000,
                              count = 1'000'000;
/** Limits of a case: cycles, summed over SMs; offers, summed over SMs and cycles. */
inline constexpr std::int64_t sm_cycles = 10'000'000'000, tried = 2'000'000'000;
} // namespace limit

} // namespace quotas

#endif
