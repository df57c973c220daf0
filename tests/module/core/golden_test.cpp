// SPDX-License-Identifier: MIT OR GPL-2.0
// Compares the golden files of tests/module/test_golden.py with texts that the core makes in this
// process.
#include "files.hpp"
#include "model.hpp"
#include "tests/support/sections.hpp"

extern "C" {
#include "probe/info.h"
}
#include <linux/seq_file.h>

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

/// These files have text only after a request.
const std::set<std::string> answers{"translate", "set_timeslice"};

using sections::Section;

std::string without_clock(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c >= '0' && c <= '9'; }, 'N');
    return text;
}

/// Facts that are not in the GPU. They are taken from the golden text, which is of a VM.
class Attachment {
  public:
    explicit Attachment(const std::string &golden) {
        std::istringstream lines(golden);
        for (std::string line; std::getline(lines, line);) {
            const std::string key = line.substr(0, line.find(": "));
            const std::string value = line.substr(key.size() + 2);
            if (key == "driver")
                driver_ = value;
            else if (value == "-")
                continue;
            else if (key.starts_with("pci_"))
                pci_ += line + "\n";
            else if (key.starts_with("bar"))
                attachment_.bar_bytes[key[3] - '0'] = std::stoull(value);
            else if (key == "platform_device" || key == "compatible")
                platform_ += line + "\n";
        }
        attachment_.identified = true;
        attachment_.driver = driver_.c_str();
        attachment_.bus = this;
        if (!pci_.empty())
            attachment_.show_pci = [](seq_file *m, const void *self) {
                seq_puts(m, static_cast<const Attachment *>(self)->pci_.c_str());
            };
        if (!platform_.empty())
            attachment_.show_platform = [](seq_file *m, const void *self) {
                seq_puts(m, static_cast<const Attachment *>(self)->platform_.c_str());
            };
    }
    Attachment(const Attachment &) = delete;
    Attachment &operator=(const Attachment &) = delete;

    [[nodiscard]] const nvdebug_attachment *get() const { return &attachment_; }

  private:
    std::string driver_, pci_, platform_;
    nvdebug_attachment attachment_{};
};

std::string printed_info(Machine &machine, const std::string &golden) {
    const Attachment attachment(golden);
    seq_file m{};
    nvdebug_info_show(&m, machine.gpu(), attachment.get());
    const std::string text(m.buf, m.count);
    std::free(m.buf);
    return text;
}

/// Returns the text, or an error in the words of cat.
std::string printed(Machine &machine, const File &file) {
    const Text got = read(machine, file);
    if (got.error)
        return "cat: can't open '" + file.name + "': " + std::strerror(-got.error) + "\n";
    return file.name == "ptimer" ? without_clock(got.text) : got.text;
}

struct GoldenCase {
    std::string board;
    std::string name; // name of the golden file
};

void PrintTo(const GoldenCase &c, std::ostream *out) {
    *out << c.board << "/" << c.name;
}

std::vector<GoldenCase> golden_cases() {
    std::vector<GoldenCase> all;
    for (const std::string &board : all_boards())
        for (const auto &entry : std::filesystem::directory_iterator(golden / board))
            if (entry.path().filename() != "modes")
                all.push_back({board, entry.path().filename()});
    std::ranges::sort(all, {}, [](const GoldenCase &c) { return c.board + "/" + c.name; });
    return all;
}

class Golden : public testing::TestWithParam<GoldenCase> {
  protected:
    Golden() : machine_(GetParam().board, "three-tasks") {
        EXPECT_EQ(machine_.probe(), 0);
        files_ = files(machine_);
    }

    /// Restarts the workload and lets it run for `time`.
    void restart(nvmodel::Ns time) {
        machine_.restart(workload_);
        machine_.model().advance(time);
    }

    /// Returns true if the file has that text at that time or within 3 ms of it. In the VM other
    /// files were read before this one, through windows and BARs, and each access takes a
    /// microsecond of the GPU's time, in which channels take turns.
    bool is_printed_soon(const File &file, const std::string &text, nvmodel::Ns time) {
        for (unsigned us = 0; us < 3000; us++) {
            restart(time + us * nvmodel::ns_per_us);
            if (printed(machine_, file) == text)
                return true;
        }
        return false;
    }

    void compare(const Section &section) {
        if (section.name == "info") {
            EXPECT_EQ(printed_info(machine_, section.text), section.text);
            return;
        }
        const auto file = std::ranges::find(files_, section.name, &File::name);
        ASSERT_NE(file, files_.end()) << section.name;
        const nvmodel::Ns time = machine_.model().now();
        const std::string text = printed(machine_, *file);
        if (text == section.text ||
            (!workload_.empty() && is_printed_soon(*file, section.text, time)))
            return;
        EXPECT_EQ(text, section.text) << section.name;
    }

    Model machine_;
    std::vector<File> files_;
    std::string workload_; // empty: the machine's first workload
};

TEST_P(Golden, FilesHaveTheirGoldenText) {
    const auto &[board, name] = GetParam();
    if (name != "topology") {
        workload_ = name;
        restart(5000 * nvmodel::ns_per_us);
    }
    for (const Section &section : sections::load(golden / board / name))
        compare(section);
    EXPECT_TRUE(machine_.model().violations().records().empty());
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::ValuesIn(golden_cases()), [](const auto &c) {
    std::string name = c.param.board + "_" + c.param.name;
    std::erase(name, '-');
    return name;
});

class Names : public testing::TestWithParam<std::string> {};

/// A file that no golden file has would never be compared.
TEST_P(Names, AllAreInTheGoldenFiles) {
    Model machine(GetParam(), "idle");
    ASSERT_EQ(machine.probe(), 0);
    std::set<std::string> kept;
    for (const auto &entry : std::filesystem::directory_iterator(golden / GetParam()))
        if (entry.path().filename() != "modes")
            for (const Section &section : sections::load(entry.path()))
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
