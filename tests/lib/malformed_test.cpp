// SPDX-License-Identifier: MIT OR GPL-2.0
// Text that does not have the form in docs/proc.md is an error with the line, and never a crash.
#include <gtest/gtest.h>

#include <random>

#include "boxes.hpp"
#include "fixture.hpp"

using namespace nvdebug;

namespace {

/// Returns the sentence of the error. The test fails if there is none.
template <typename T>
std::string malformed(const Result<T> &result) {
    if (result)
        return "it was accepted";
    EXPECT_EQ(result.error().code, ErrorCode::malformed);
    EXPECT_EQ(result.error().number, 0);
    return result.error().sentence;
}

struct BadList {
    const char *name;
    std::string text, sentence;
};

void PrintTo(const BadList &list, std::ostream *out) {
    *out << list.name;
}

class BadLists : public testing::TestWithParam<BadList> {};

TEST_P(BadLists, AreRefused) {
    EXPECT_EQ(malformed(parse_runlist(GetParam().text)), GetParam().sentence);
}

const std::string one = boxes::list(1, 1) + boxes::tsg(7, "1.024", 1);
const std::string block = one + boxes::channel(1, "1");

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadLists,
    testing::Values(
        BadList{"empty", "", "no text: there is no box of a runlist"},
        BadList{"another_file", "0x12\n", "line 1: '0x12' opens no box"},
        BadList{"another_box", boxes::tsg(7, "1.024", 1), "line 1: there is no box of a runlist"},
        BadList{"no_number", boxes::box(0, "Runlist 0", {{"Entries", "nine"}}),
                "line 2: 'Entries' is 'nine', not a number of 32 bits"},
        BadList{"too_large", boxes::box(0, "Runlist 0", {{"Entries", "4294967296"}}),
                "line 2: 'Entries' is '4294967296', not a number of 32 bits"},
        BadList{"negative", boxes::box(0, "Runlist 0", {{"Entries", "-1"}}),
                "line 2: 'Entries' is '-1', not a number of 32 bits"},
        BadList{"key_missing", boxes::box(0, "Runlist 0", {{"Entries", "0"}}),
                "line 3: 'TSGs' is missing"},
        BadList{"key_twice", boxes::box(0, "Runlist 0", {{"Entries", "0"}, {"Entries", "0"}}),
                "line 3: 'Entries' is there twice"},
        BadList{"binary", boxes::box(0, "Runlist 0", {{"Entries", "\x01\xff"}}),
                "line 2: 'Entries' is '?\?', not a number of 32 bits"},
        BadList{"long_value", boxes::box(0, "Runlist 0", {{"Entries", std::string(99, 'x')}}),
                "line 2: 'Entries' is '" + std::string(40, 'x') + "...', not a number of 32 bits"},
        BadList{"not_closed", boxes::list(0, 0).substr(0, boxes::list(0, 0).size() - 7),
                "line 8: the text ends in the middle of the box 'Runlist 0'"},
        BadList{"cut_line", boxes::list(0, 0).substr(0, boxes::list(0, 0).size() - 1),
                "line 9: the text ends in the middle of the line"},
        BadList{"no_channel", one, "line 15: the list announces 1 channels, but 0 follow"},
        BadList{"too_many", block + boxes::channel(2, "1"),
                "line 21: the list announces 1 channels, but 2 follow"},
        BadList{"no_tsg_above", boxes::list(0, 1) + boxes::channel(1, "1"),
                "line 10: a channel of a TSG is below no TSG"},
        BadList{"flag", one + boxes::channel(1, "2"), "line 17: 'Enabled' is '2', not 0 or 1"},
        BadList{"no_flag", one + boxes::box(2, "Channel Info 1", {{"Next", "0"}}),
                "line 18: 'Enabled' is missing"},
        BadList{"id", one + boxes::box(2, "Channel Info one", {}),
                "line 16: 'Channel Info one' is 'one', not a number of 32 bits"},
        BadList{"timeslice", boxes::list(1, 0) + boxes::tsg(7, "1.0244", 1),
                "line 13: 'Timeslice (us)' is '1.0244', not a time in microseconds"},
        BadList{"timeslice_too_long", boxes::list(1, 0) + boxes::tsg(7, "18446744073709551615", 1),
                "line 13: 'Timeslice (us)' is '18446744073709551615', not a time in microseconds"},
        BadList{"aperture", boxes::list(0, 0).replace(boxes::list(0, 0).find("vid"), 3, "bid"),
                "line 7: 'Aperture' is 'bid', not an aperture"},
        BadList{"snapshot", boxes::list(0, 0, 0, "fuzzy"),
                "line 8: 'Snapshot' is 'fuzzy', not 'consistent' or 'torn'"},
        BadList{"indent", boxes::list(0, 0) + "+- TSG Entry 1 -+\n  | Scale: 1 |\n",
                "line 11: '  | Scale: 1 |' is no '| Key: value |'"},
        BadList{"orphan_block", boxes::list(0, 0) + boxes::box(2, "Instance Block", {}),
                "line 10: an instance block is below no channel"},
        BadList{"orphan_context", boxes::list(0, 0) + boxes::box(2, "Context", {}),
                "line 10: there is no instance block to which this belongs"},
        BadList{"empty_block", block + boxes::box(4, "Instance Block", {}),
                "line 20: 'Page Tables' is missing"},
        BadList{"subcontexts_missing",
                block +
                    boxes::box(4, "Instance Block", {{"Page Tables", "2"}, {"Subcontexts", "1"}}),
                "line 22: an instance block has 0 subcontexts, not as many as it says"},
        BadList{"context_missing",
                block +
                    boxes::box(4, "Instance Block", {{"Page Tables", "2"}, {"Context", "below"}}),
                "line 22: a context that an instance block announces is missing"},
        BadList{"block_missing",
                boxes::list(0, 2) + boxes::channel(1, "1", 0) +
                    boxes::box(2, "Instance Block", {{"Error", "not bound"}}) +
                    boxes::channel(2, "1", 0),
                "line 18: the list announces 2 instance blocks, but 1 follow"}),
    [](const auto &about) { return about.param.name; });

TEST(BadTables, HeadersAndColumns) {
    EXPECT_EQ(malformed(parse_device_info("")), "no text: there is no header that begins with '#'");
    EXPECT_EQ(malformed(parse_sm_map("0 1 2\n")),
              "line 1: there is no header that begins with '#'");
    EXPECT_EQ(malformed(parse_sm_map("# sm tpc gpc\n0 1 2\n")),
              "line 1: the header has no column 'gpc' where it should be");
    EXPECT_EQ(malformed(parse_sm_map("# sm gpc tpc\n0 1\n")), "line 2: there is no 'tpc'");
    EXPECT_EQ(malformed(parse_sm_map("# sm gpc tpc\n\n")), "line 2: there is no 'sm'");
    EXPECT_EQ(malformed(parse_sm_map("# sm gpc tpc\n0 1 x\n")),
              "line 2: 'tpc' is 'x', not a number of 32 bits");
    EXPECT_EQ(malformed(parse_scheduling("# runlist scheduling\n0 maybe\n")),
              "line 2: 'scheduling' is 'maybe', not 'on' or 'off'");
    EXPECT_EQ(malformed(parse_contexts("# runlist tsg shared spaces page_directory aperture veid "
                                       "channels error\n0 0 no 1 0x1 vid 0 0,x -\n")),
              "line 2: 'channels' is 'x', not a number of 32 bits");
    EXPECT_EQ(malformed(parse_contexts("# runlist tsg shared spaces page_directory aperture veid "
                                       "channels error\n0 0 no 1 0x1 vid 0 0, -\n")),
              "line 2: 'channels' is '0,', not a list");
    EXPECT_EQ(malformed(parse_contexts("# runlist tsg shared spaces page_directory aperture veid "
                                       "channels error\n0 0 yes 1 0x1 vid 0 0 -\n")),
              "line 2: 'spaces' is '1', not more than 1, as a shared TSG has");
}

TEST(BadTables, PbdmasThatDoNotMatch) {
    const auto error_of = [](const std::string &row) {
        return malformed(parse_engines("# engine runlist status current next busy faulted reload "
                                       "channel pbdmas pbdma_status pbdma_current pbdma_next "
                                       "pbdma_channel\n" +
                                       row + "\n"));
    };
    EXPECT_EQ(error_of("GR0 0 valid - - 0 0 0 - 0,1 valid,valid,valid -,- -,- -,-"),
              "line 2: 'pbdma_status' is 'valid,valid,valid', not one value for each of 'pbdmas'");
    EXPECT_EQ(error_of("GR0 0 valid - - 0 0 0 - 0,1 valid -,- -,- -,-"),
              "line 2: 'pbdma_status' is '', not a word");
    EXPECT_EQ(error_of("GR0 0 valid client:5 - 0 0 0 - 0 valid - - -"),
              "line 2: 'current' is 'client:5', not 'tsg:N' or 'channel:N'");
}

TEST(BadRecords, KeysAndValues) {
    EXPECT_EQ(malformed(parse_info("")), "no text: 'chip' is missing");
    EXPECT_EQ(malformed(parse_info("chip\n")), "line 1: 'chip' is no 'key: value'");
    EXPECT_EQ(malformed(parse_info("chip: GA100\nfeature x: perhaps\n")),
              "line 2: 'feature x' is 'perhaps', not 'yes' or 'no (REASON)'");
    EXPECT_EQ(malformed(parse_info("chip: GA100\nchannel_ids: many\n")),
              "line 2: 'channel_ids' is 'many', not 'global' or 'per-runlist'");
    EXPECT_EQ(malformed(parse_translation("PD3[x]: 0x1 vid 0x2 invalid\n")),
              "line 1: 'PD3[x]' is 'x', not a number of 32 bits");
    EXPECT_EQ(malformed(parse_translation("PD3[1]: 0x1 vid 0x2\n")),
              "line 1: 'PD3[1]' is '', not a word");
    EXPECT_EQ(malformed(parse_timeslice_change("runlist: 0\ntsg: 1\nasked_us: soon\n")),
              "line 3: 'asked_us' is 'soon', not a time in microseconds");
    EXPECT_EQ(malformed(parse_number("")), "no text: a number is missing");
    EXPECT_EQ(malformed(parse_number("12")), "line 1: the text ends in the middle of the line");
    EXPECT_EQ(malformed(parse_number("18446744073709551616\n")),
              "line 1: 'the first line' is '18446744073709551616', not a number");
}

template <auto Parse>
bool is_accepted(std::string_view text) {
    const auto result = Parse(text);
    if (!result) {
        EXPECT_EQ(result.error().code, ErrorCode::malformed);
        EXPECT_FALSE(result.error().sentence.empty());
    }
    return result.has_value();
}

struct Sample {
    std::string text;
    bool (*accepts)(std::string_view);
};

/// Returns a text of each kind, as the module prints it.
std::vector<Sample> samples() {
    const auto topology = fixture::golden("titan-v", "topology");
    const auto state = fixture::golden("titan-v", "fig7");
    const auto idle = fixture::golden("a100", "idle");
    return {{topology.at("info"), is_accepted<parse_info>},
            {topology.at("device_info"), is_accepted<parse_device_info>},
            {topology.at("copy_topology"), is_accepted<parse_copy_topology>},
            {topology.at("sm_map"), is_accepted<parse_sm_map>},
            {topology.at("local_memory"), is_accepted<parse_number>},
            {idle.at("work_distributor"), is_accepted<parse_work_distributor>},
            {idle.at("scheduling"), is_accepted<parse_scheduling>},
            {state.at("contexts"), is_accepted<parse_contexts>},
            {state.at("engines"), is_accepted<parse_engines>},
            {state.at("runlist0"), is_accepted<parse_runlist>},
            {"virtual_address: 0x1000\npage_directory: 0x1000 ncoh\npage_tables: 1\n"
             "PD0[0]: 0x1000 ncoh 0x0000000000000000 invalid\nresult: 0x5 vid\npage_size: 4096\n"
             "flags: kind=6\nerror: -\n",
             is_accepted<parse_translation>},
            {"runlist: 0\ntsg: 5\nasked_us: 1500.000\nold_us: 1998.848\nnew_us: 1499.136\n"
             "timeout: 183\nscale: 3\nheaders: 1\n",
             is_accepted<parse_timeslice_change>}};
}

TEST(HostileText, EveryPrefix) {
    for (const Sample &sample : samples()) {
        ASSERT_TRUE(sample.accepts(sample.text)) << sample.text;
        for (std::size_t size = 0; size < sample.text.size(); size++) {
            // The buffer is exactly as long as the view, so that sanitizers find reads beyond it.
            const std::vector<char> copy(sample.text.begin(),
                                         sample.text.begin() + static_cast<std::ptrdiff_t>(size));
            const bool accepted = sample.accepts({copy.data(), copy.size()});
            const bool whole_lines = size > 0 && sample.text[size - 1] == '\n';
            EXPECT_TRUE(!accepted || whole_lines) << std::string(copy.begin(), copy.end());
        }
    }
}

TEST(HostileText, NoPrefixOfAListIsAList) {
    const std::string text = fixture::golden("titan-v", "fig7").at("runlist0");
    for (std::size_t size = 0; size < text.size(); size++)
        EXPECT_FALSE(parse_runlist(text.substr(0, size))) << size;
}

TEST(HostileText, RandomMutations) {
    std::mt19937 random(20240601);
    const std::string pieces[] = {"-",
                                  "+",
                                  "|",
                                  ":",
                                  " ",
                                  "\n",
                                  ",",
                                  "0x",
                                  "[",
                                  "#",
                                  std::string(1, '\0'),
                                  "99999999999999999999",
                                  "as Channel 1"};
    for (const Sample &sample : samples()) {
        for (int round = 0; round < 1000; round++) {
            std::string text = sample.text;
            for (unsigned change = 0; change <= random() % 4; change++) {
                const std::size_t at = random() % text.size();
                switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, random() % 64);
                    break;
                case 2:
                    text.insert(at, pieces[random() % std::size(pieces)]);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 256));
                }
                if (text.empty())
                    text = "\n";
            }
            sample.accepts(text);
        }
    }
}

} // namespace
