// SPDX-License-Identifier: MIT OR GPL-2.0
// The files of a GPU with unusual values in its registers.
#pragma once

#include "bench.hpp"
#include "meddled.hpp"
#include "text.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace core {

constexpr u32 error_word = 0xbadf1104;

inline std::vector<std::string> words_of(const std::string &text) {
    std::vector<std::string> all;
    std::istringstream words(text);
    for (std::string word; words >> word;)
        all.push_back(word);
    return all;
}

class Views : public testing::TestWithParam<std::string> {
  protected:
    explicit Views(const std::string &workload = "three-tasks") : machine(GetParam(), workload) {
        EXPECT_EQ(machine.probe(), 0);
        restart(workload);
    }
    void restart(const std::string &workload) {
        machine.restart(workload);
        machine.model().advance(5000 * nvmodel::ns_per_us);
    }
    [[nodiscard]] nvdebug_gpu *gpu() { return machine.gpu(); }
    /// Reads of these registers give these values, whatever the registers have.
    void lie(std::map<u32, u32> values) {
        machine.on_read = [this, values = std::move(values)](u32 offset) {
            reads[offset]++;
            const auto found = values.find(offset);
            return found == values.end() ? std::nullopt : std::optional(found->second);
        };
    }
    Text open(const std::string &name, bool hide = false) {
        const std::vector<File> all = files(machine);
        const auto found = std::ranges::find(all, name, &File::name);
        return found == all.end() ? Text{-ENOENT, {}} : read(machine, *found, hide);
    }
    [[nodiscard]] bool has(const std::string &name) {
        const std::vector<File> all = files(machine);
        return std::ranges::find(all, name, &File::name) != all.end();
    }
    int probe() {
        machine.forget();
        return machine.probe();
    }

    Meddled machine;
    std::map<u32, int> reads; // of each register, counted while lie() is in effect
};

} // namespace core
