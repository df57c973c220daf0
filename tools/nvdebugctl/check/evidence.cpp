// SPDX-License-Identifier: MIT OR GPL-2.0
#include "evidence.hpp"

#include <sstream>

#include "lab_evidence.hpp"

namespace nvdebugctl {

std::vector<Measurement> parse_evidence(const std::string &csv) {
    std::vector<Measurement> rows;
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line); // the heading
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        Measurement row;
        for (std::string Measurement::*word : {&Measurement::rule, &Measurement::generation,
                                               &Measurement::machine, &Measurement::found})
            std::getline(words, row.*word, ',');
        rows.push_back(std::move(row));
    }
    return rows;
}

const std::vector<Measurement> &evidence() {
    static const std::vector<Measurement> rows = parse_evidence(lab_evidence);
    return rows;
}

Measured nearest(const std::vector<Measurement> &all, const std::string &rule,
                 const std::optional<std::string> &generation) {
    std::vector<Measurement> here, elsewhere;
    for (const Measurement &one : all)
        if (one.rule == rule)
            (one.generation == generation ? here : elsewhere).push_back(one);
    if (!here.empty())
        return {Measured::Where::this_generation, here};
    return {elsewhere.empty() ? Measured::Where::never : Measured::Where::other_generation,
            elsewhere};
}

} // namespace nvdebugctl
