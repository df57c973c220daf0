// SPDX-License-Identifier: MIT OR GPL-2.0
// Fixture for probing a GPU with unusual values in its registers.
#pragma once

#include "bench.hpp"
#include "meddled.hpp"

extern "C" {
#include "probe/info.h"
}
#include <linux/seq_file.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace core {

constexpr u32 error_word = 0xbadf1100;

class Probe : public testing::TestWithParam<std::string> {
  protected:
    explicit Probe(const std::string &board = GetParam()) : machine(board, "three-tasks") {}

    [[nodiscard]] nvdebug_gpu *gpu() { return machine.gpu(); }
    [[nodiscard]] static nvdebug_attachment attached() {
        nvdebug_attachment attachment{};
        attachment.identified = true;
        attachment.driver = "-";
        return attachment;
    }
    /// Returns the values of the lines of `info` with this key.
    std::vector<std::string> info(const std::string &key,
                                  const nvdebug_attachment &attachment = attached()) {
        seq_file m{};
        nvdebug_info_show(&m, gpu(), &attachment);
        std::vector<std::string> found;
        std::istringstream text(std::string(m.buf, m.count));
        for (std::string line; std::getline(text, line);)
            if (line.starts_with(key + ": "))
                found.push_back(line.substr(key.size() + 2));
        std::free(m.buf);
        return found;
    }
    /// Reads of these registers give these values, whatever the registers have.
    void lie(std::map<u32, u32> values) {
        machine.on_read = [values = std::move(values)](u32 offset) {
            const auto found = values.find(offset);
            return found == values.end() ? std::nullopt : std::optional(found->second);
        };
    }
    void expect_runlists(const std::string &said) {
        EXPECT_EQ(info("runlists"), std::vector<std::string>{said});
    }
    int probe() {
        machine.forget();
        machine.warnings.clear();
        return machine.probe();
    }
    /// Returns the text of a file, or the error of opening it.
    Text open(const std::string &name) {
        const std::vector<File> all = files(machine);
        const auto found = std::ranges::find(all, name, &File::name);
        return found == all.end() ? Text{-ENOENT, {}} : read(machine, *found);
    }

    Meddled machine;
};

} // namespace core
