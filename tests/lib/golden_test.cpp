// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses every file of every board.
#include <gtest/gtest.h>

#include "fixture.hpp"

using namespace nvdebug;
using fixture::Board;
using fixture::value;

namespace {

class EveryBoard : public testing::TestWithParam<std::string> {};

/// Returns the error of parsing a file; empty: none. Files with a single number are parsed by
/// parse_number().
std::string error_of(const std::string &name, std::string_view text) {
    const auto sentence = [](const auto &result) {
        return result ? std::string() : result.error().sentence;
    };
    if (name == "info")
        return sentence(parse_info(text));
    if (name == "device_info")
        return sentence(parse_device_info(text));
    if (name == "engines")
        return sentence(parse_engines(text));
    if (name == "contexts")
        return sentence(parse_contexts(text));
    if (name.starts_with("runlist"))
        return sentence(parse_runlist(text));
    if (name == "copy_topology")
        return sentence(parse_copy_topology(text));
    if (name == "sm_map")
        return sentence(parse_sm_map(text));
    if (name == "work_distributor")
        return sentence(parse_work_distributor(text));
    if (name == "scheduling")
        return sentence(parse_scheduling(text));
    return sentence(parse_number(text));
}

TEST_P(EveryBoard, EveryFileParses) {
    std::size_t files = 0;
    for (const char *const set :
         {"topology", "idle", "mixed", "sysmem", "fig6", "fig7", "preemption"})
        for (const auto &[name, text] : fixture::golden(GetParam(), set)) {
            if (name == "ptimer") // the digits of the golden file are masked
                continue;
            EXPECT_EQ(error_of(name, text), "") << set << " " << name;
            files++;
        }
    EXPECT_GT(files, 15U); // an integrated GPU has the fewest
}

INSTANTIATE_TEST_SUITE_P(Golden, EveryBoard, testing::ValuesIn(fixture::boards()),
                         [](const auto &about) {
                             std::string name = about.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
