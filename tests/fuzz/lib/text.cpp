// SPDX-License-Identifier: MIT OR GPL-2.0
// Every parser of a file's text. The first byte selects the parser, and the rest is the text.
#include "nvdebug/control.hpp"
#include "nvdebug/parse.hpp"

#include "answers.hpp"
#include "fuzz.hpp"

#include <array>

using namespace nvdebug;

namespace {

template <typename T>
void error(const Result<T> &result) {
    const Error &error = result.error();
    FUZZ_REQUIRE(error.code == ErrorCode::malformed && error.number == 0 && error.path.empty());
    fuzz::sentence(error);
}

template <auto parse>
void only_parse(std::string_view text) {
    const auto first = parse(text);
    const auto second = parse(text);
    FUZZ_REQUIRE(first.has_value() == second.has_value());
    if (first)
        return;
    error(first);
    FUZZ_REQUIRE(first.error().sentence == second.error().sentence);
}

void runlist(std::string_view text) {
    const auto list = parse_runlist(text);
    if (list)
        fuzz::answers(*list);
    else
        error(list);
}

void contexts(std::string_view text) {
    const auto uses = parse_contexts(text);
    if (uses)
        fuzz::answers(*uses);
    else
        error(uses);
}

/** Checks that a printed target is parsed to the same target. */
void target(std::string_view text) {
    const auto target = parse_target(text);
    if (!target)
        return fuzz::sentence(target.error());
    const auto again = parse_target(to_string(*target));
    FUZZ_REQUIRE(again && *again == *target);
}

/** The parsers have the order of PARSERS in tests/fuzz/make_seeds. */
constexpr std::array<void (*)(std::string_view), 13> parsers{
    only_parse<parse_info>,
    only_parse<parse_device_info>,
    only_parse<parse_engines>,
    runlist,
    contexts,
    only_parse<parse_copy_topology>,
    only_parse<parse_sm_map>,
    only_parse<parse_work_distributor>,
    only_parse<parse_scheduling>,
    only_parse<parse_translation>,
    only_parse<parse_number>,
    only_parse<parse_timeslice_change>,
    target,
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    // The copy has the exact length, so that reading a character too many is seen.
    const auto text = std::make_unique<char[]>(size - 1);
    std::copy(data + 1, data + size, text.get());
    parsers[data[0] % parsers.size()]({text.get(), size - 1});
    return 0;
}
