// SPDX-License-Identifier: MIT OR GPL-2.0
// Feeds a record of `nvqos --decisions` to the governor of this build:
//
//     nvqos_replay < RECORD                 compares what it decides with the record
//     nvqos_replay --again < RECORD > NEW   writes the record with what it decides
//
// Exit status: 0: it decides the same, or --again; 1: it decides something else, of which the first
// differences are printed; 2: the record makes no sense.
#include "replay.hpp"

#include <cstdio>
#include <iostream>
#include <string_view>

namespace {

constexpr std::size_t most_shown = 20;

int replay_all(bool again) {
    replay::Replay run;
    std::uint64_t number = 0;
    try {
        for (std::string line; std::getline(std::cin, line);) {
            number++;
            const std::string made = run.take(line);
            if (again)
                std::cout << made << "\n";
        }
        if (run.steps() == 0)
            throw std::runtime_error("no step was recorded");
    } catch (const std::exception &error) {
        std::cerr << fmt::format("nvqos_replay: line {}: {}\n", number, error.what());
        return 2;
    }
    if (again)
        return std::cout.flush() ? 0 : 2;
    const auto &differences = run.differences();
    for (std::size_t n = 0; n < std::min(differences.size(), most_shown); n++)
        std::cout << differences[n] << "\n";
    std::cout << fmt::format("{} steps, {} pauses, {} differences\n", run.steps(), run.pauses(),
                             differences.size());
    return differences.empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    const bool again = argc == 2 && std::string_view(argv[1]) == "--again";
    if (argc > 1 && !again) {
        std::cerr << "usage: nvqos_replay [--again] < RECORD\n";
        return 2;
    }
    return replay_all(again);
}
