// SPDX-License-Identifier: MIT OR GPL-2.0
// Bits of the GPU's memory are flipped, other ones for each seed. The files stay within their
// bounds, and their texts are the original ones once the bits are restored.
// tests/module/kselftest/proc_corrupt.c does the same in a kernel, and looks for leaks there.
#include "bench.hpp"
#include "page_tables.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <tuple>

namespace core {
namespace {

constexpr unsigned flips = 8;
const unsigned seeds = std::getenv("NVDEBUG_LONG") == nullptr ? 20 : 1000;
constexpr std::size_t walk_lines = 20, walk_columns = 200;
constexpr std::size_t box_columns = 48; // the width of a runlist file's lines

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);)
        lines.push_back(line);
    return lines;
}

bool is_lines(const std::string &text) {
    return text.ends_with('\n') &&
           std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

/// Returns true if each line has as many words as the header has names behind its '#'.
bool is_table(const std::string &text) {
    std::vector<std::size_t> words;
    for (const std::string &line : lines_of(text)) {
        std::istringstream all(line);
        words.push_back(0);
        for (std::string word; all >> word;)
            words.back()++;
    }
    return text.starts_with("# ") && std::all_of(words.begin() + 1, words.end(), [&](auto count) {
               return count + 1 == words.front();
           });
}

/// Returns true for a line such as "PD3[2]: 0x1000".
bool is_level(const std::string &line) {
    const std::size_t name = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    if (name == 0 || name == std::string::npos || line[name] != '[')
        return false;
    const std::size_t index = line.find_first_not_of("0123456789", name + 1);
    return index != std::string::npos &&
           line.substr(index).starts_with("]: 0"); // only the kernel prints "0x" before a 0
}

/// Returns true if the lines begin with the keys of `translate` in their order.
bool is_walk(const std::vector<std::string> &lines) {
    const std::vector<std::string> keys{"virtual_address: ",
                                        "page_directory: ",
                                        "page_tables: ",
                                        "", // levels
                                        "result: ",
                                        "page_size: ",
                                        "flags: ",
                                        "error: "};
    std::size_t key = 0;
    for (const std::string &line : lines) {
        if (key < keys.size() && keys[key].empty()) {
            if (is_level(line))
                continue;
            key++;
        }
        if (key == keys.size() || !line.starts_with(keys[key]))
            return false;
        key++;
    }
    return key == keys.size();
}

/// Each case is a board and a workload.
using On = std::tuple<std::string, std::string>;

class Corruption : public testing::TestWithParam<On> {
  protected:
    Corruption() {
        bench.machine.fault("freeze-after 0"); // so that texts can be compared
        for (const nvmodel::RunlistRow &row : bench.machine.model().board().runlists)
            for (const char *const form : {"", "_brief"})
                files.push_back("runlist" + std::to_string(row.id) + form);
        files.insert(files.end(), {"contexts", "engines"});
        std::erase_if(files, [&](const std::string &file) { return !bench.has(file); });
        const Json layout = bench.layout();
        for (const Json &one : layout.at("address_spaces")) {
            const Space space(bench, layout, one);
            requests.push_back(space.request(0));
            requests.push_back(space.request(0x3456789abc));
            for (std::size_t i = 0; i < one.at("mappings").size(); i += 3)
                requests.push_back(space.request(number(one.at("mappings")[i].at("va")) + 0x10));
        }
        for (std::size_t i = 0; i < 2; i++) {
            const Json &channel = layout.at("channels")[i];
            const std::string text =
                channel.at("runlist").dump() + ":" + channel.at("channel").dump() + " 0x3456789abc";
            requests.push_back(text);
            requests.push_back(text + " base");
        }
    }

    /// Reads all files and makes all walks. Returns their texts, or the number of the error.
    std::vector<std::string> read_all(unsigned seed) {
        std::vector<std::string> texts;
        for (const std::string &file : files) {
            const Text got = bench.read(file);
            texts.push_back(got.error ? std::to_string(got.error) : got.text);
            expect_allowed(got, false, file, seed);
            if (!got.error)
                expect_form(file, got.text, seed);
        }
        for (const std::string &request : requests) {
            const Text got = bench.write("translate", request);
            texts.push_back(got.error ? std::to_string(got.error) : got.text);
            expect_allowed(got, true, request, seed);
            if (got.error)
                continue;
            const std::vector<std::string> lines = lines_of(got.text);
            EXPECT_TRUE(is_lines(got.text) && is_walk(lines))
                << request << ", seed " << seed << "\n"
                << got.text;
            EXPECT_LE(lines.size(), walk_lines) << request << ", seed " << seed;
            for (const std::string &line : lines)
                EXPECT_LE(line.size(), walk_columns) << request << ", seed " << seed;
        }
        return texts;
    }
    /// Checks that an error is one of the errors that nonsense in memory may cause.
    static void expect_allowed(const Text &got, bool walk, const std::string &what, unsigned seed) {
        EXPECT_TRUE(!got.error || got.error == -EIO || got.error == -EFAULT ||
                    (walk && got.error == -EINVAL))
            << what << ", seed " << seed << ": " << got.error;
    }
    void expect_form(const std::string &file, const std::string &text, unsigned seed) {
        EXPECT_TRUE(is_lines(text)) << file << ", seed " << seed;
        if (!file.starts_with("runlist")) {
            EXPECT_TRUE(is_table(text)) << file << ", seed " << seed;
            return;
        }
        // The list has one box, and each entry has one with at most an instance block, 64
        // subcontexts and a context below it.
        constexpr std::size_t boxes_per_entry = 67, lines_per_box = 24;
        const std::vector<Box> shown = boxes(text);
        expect_known_boxes(text);
        const std::size_t count = entries(text).size();
        EXPECT_LE(shown.size(), 1 + (count - 1) * boxes_per_entry) << file << ", seed " << seed;
        EXPECT_LE(text.size(), shown.size() * lines_per_box * (box_columns + 1))
            << file << ", seed " << seed;
    }

    Bench bench{std::get<0>(GetParam()), std::get<1>(GetParam())};
    std::vector<std::string> files, requests;
};

TEST_P(Corruption, StaysInBounds) {
    const std::vector<std::string> originals = read_all(0);
    unsigned shown = 0;
    for (unsigned seed = 1; seed <= seeds && !HasFailure(); seed++) {
        bench.machine.model().corrupt(seed, flips);
        shown += read_all(seed) != originals;
        bench.machine.model().undo_corruption();
        EXPECT_EQ(read_all(seed), originals) << "seed " << seed << ", undone";
    }
    EXPECT_GE(5 * shown, seeds);
}

std::vector<On> corruption_cases() {
    std::vector<On> all;
    for (const std::string &board : cards)
        for (const char *const workload : {"fig6", "page-tables", "fig7"})
            if (std::string(workload) != "fig7" ||
                std::ranges::count(cards_since("titan-v"), board))
                all.emplace_back(board, workload);
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, Corruption, testing::ValuesIn(corruption_cases()),
                         [](const auto &on) {
                             std::string name = std::get<0>(on.param) + "_" + std::get<1>(on.param);
                             std::erase(name, '-');
                             return name;
                         });

} // namespace
} // namespace core
