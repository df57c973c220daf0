// SPDX-License-Identifier: MIT OR GPL-2.0
// Sets up programs on the modelled H200, and evaluates their operations.
#pragma once

#include "programs/programs.hpp"

#include "support.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace nvmodel::test {

constexpr Ns us = ns_per_us;
constexpr Ns ms = 1000 * us;
constexpr Ns patience = 2000 * ms;
constexpr std::uint64_t mib = 1 << 20;
constexpr Ns compute_slice = 2048 * 1024;
constexpr Ns copy_slice = 1024 * 1024;

inline Programs on_h200(std::vector<Process> processes, const Rules &rules = {}) {
    return {board("h200"), std::move(processes), rules};
}

/// Returns the times in which any block executed, or a copy progressed.
inline std::vector<Interval> ran(const Operation &operation) {
    std::vector<Interval> all;
    for (const BlockRun &block : operation.blocks)
        all.insert(all.end(), block.ran.begin(), block.ran.end());
    for (const CopyProgress &part : operation.progress)
        all.push_back(part.when);
    std::ranges::sort(all, {}, &Interval::begin);
    std::vector<Interval> merged;
    for (const Interval &one : all)
        if (!merged.empty() && one.begin <= merged.back().end)
            merged.back().end = std::max(merged.back().end, one.end);
        else
            merged.push_back(one);
    return merged;
}

inline Ns overlap(const Operation &one, const Operation &other) {
    Ns sum = 0;
    for (const Interval &a : ran(one))
        for (const Interval &b : ran(other))
            sum += std::max<Ns>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
    return sum;
}

/// Runs all operations; fails the test if one does not end.
inline void finish(Programs &programs) {
    for (std::size_t i = 0; i < programs.operations(); ++i)
        ASSERT_TRUE(programs.wait(i, patience)) << "operation " << i << " did not end";
}

/// Returns the streams that began before the first one was wholly placed. Each stream has four
/// kernels of 20 ms.
inline std::vector<std::size_t> at_once(std::size_t streams, Process process, const Rules &rules,
                                        std::vector<Ns> *began = nullptr) {
    Programs programs = on_h200({std::move(process)}, rules);
    for (std::size_t i = 0; i < streams; ++i) {
        const auto stream = programs.open_stream(0);
        for (int kernel = 0; kernel < 4; ++kernel)
            programs.launch(stream, {.block = i == 0 && streams == 10 ? 40 * ms : 20 * ms});
    }
    finish(programs);
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < streams; ++i) {
        const Ns begin = programs.operation(4 * i).blocks.front().ran.front().begin;
        if (begin < 20 * ms)
            first.push_back(i);
        if (began != nullptr)
            began->push_back(begin);
    }
    return first;
}

} // namespace nvmodel::test
