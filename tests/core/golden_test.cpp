// SPDX-License-Identifier: MIT OR GPL-2.0
// The golden files of tests/test_golden.py, out of the core in this process.
#include "files.hpp"
#include "model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <sstream>

namespace core {
namespace {

const std::filesystem::path golden = GOLDEN_FILES;

/// What the core does not print: how a GPU is attached is only known in a kernel.
const std::set<std::string> kernels_alone{"info"};
/// They say something only when asked.
const std::set<std::string> answers{"translate", "set_timeslice"};

struct Section {
    std::string name;
    std::string text;
};

std::vector<Section> load(const std::filesystem::path &path) {
    std::vector<Section> sections;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("==> "))
            sections.push_back({line.substr(4), ""});
        else
            sections.back().text += line + "\n";
    }
    std::erase_if(sections, [](const Section &s) { return kernels_alone.contains(s.name); });
    return sections;
}

std::string without_clock(std::string text) {
    std::ranges::replace_if(text, [](char c) { return c >= '0' && c <= '9'; }, 'N');
    return text;
}

/// As cat words it.
std::string printed(Machine &machine, const File &file) {
    const Text got = read(machine, file);
    if (got.error)
        return "cat: can't open '" + file.name + "': " + std::strerror(-got.error) + "\n";
    return file.name == "ptimer" ? without_clock(got.text) : got.text;
}

struct Case {
    std::string board;
    std::string name; // of the golden file
};

void PrintTo(const Case &c, std::ostream *out) {
    *out << c.board << "/" << c.name;
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::string &board : all_boards())
        for (const auto &entry : std::filesystem::directory_iterator(golden / board))
            if (entry.path().filename() != "modes")
                all.push_back({board, entry.path().filename()});
    std::ranges::sort(all, {}, [](const Case &c) { return c.board + "/" + c.name; });
    return all;
}

class Golden : public testing::TestWithParam<Case> {
  protected:
    Golden() : machine_(GetParam().board, "three-tasks") {
        EXPECT_EQ(machine_.probe(), 0);
        files_ = files(machine_);
    }

    /// The workload as it is some time after its start.
    void restart(nvmodel::Ns time) {
        machine_.restart(workload_);
        machine_.model().advance(time);
    }

    /// Is that the text of the file at that time, or soon after? In the VM other files were read
    /// before, through windows and BARs, and an access takes a microsecond of the GPU's time, in
    /// which channels take turns.
    bool is_printed_soon(const File &file, const std::string &text, nvmodel::Ns time) {
        for (unsigned us = 0; us < 3000; us++) {
            restart(time + us * nvmodel::ns_per_us);
            if (printed(machine_, file) == text)
                return true;
        }
        return false;
    }

    void compare(const Section &section) {
        const auto file = std::ranges::find(files_, section.name, &File::name);
        ASSERT_NE(file, files_.end()) << section.name;
        const nvmodel::Ns time = machine_.model().now();
        const std::string text = printed(machine_, *file);
        if (text == section.text || (!workload_.empty() && is_printed_soon(*file, section.text, time)))
            return;
        EXPECT_EQ(text, section.text) << section.name;
    }

    Model machine_;
    std::vector<File> files_;
    std::string workload_; // empty: what the machine was made with
};

TEST_P(Golden, Files) {
    const auto &[board, name] = GetParam();
    if (name != "topology") {
        workload_ = name;
        restart(5000 * nvmodel::ns_per_us);
    }
    for (const Section &section : load(golden / board / name))
        compare(section);
    EXPECT_TRUE(machine_.model().violations().records().empty());
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(cases()), [](const auto &c) {
    std::string name = c.param.board + "_" + c.param.name;
    std::erase(name, '-');
    return name;
});

class Names : public testing::TestWithParam<std::string> {};

/// A golden file is no use for what is missing from it.
TEST_P(Names, AllAreInTheGoldenFiles) {
    Model machine(GetParam(), "idle");
    ASSERT_EQ(machine.probe(), 0);
    std::set<std::string> kept;
    for (const auto &entry : std::filesystem::directory_iterator(golden / GetParam()))
        if (entry.path().filename() != "modes")
            for (const Section &section : load(entry.path()))
                kept.insert(section.name);
    for (const File &file : files(machine)) {
        const bool is_kept = kept.contains(file.name) || file.name.ends_with("_brief");
        EXPECT_TRUE(!file.view || answers.contains(file.name) || is_kept) << file.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Cards, Names, testing::ValuesIn(cards), [](const auto &board) {
    std::string name = board.param;
    std::erase(name, '-');
    return name;
});

} // namespace
} // namespace core
