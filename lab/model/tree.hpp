// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The modelled GPU as a folder that nvdebugctl reads. */
#ifndef NVDEBUG_LAB_MODEL_TREE_HPP
#define NVDEBUG_LAB_MODEL_TREE_HPP

#include "machine.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace lab {

/** A channel and the process that made it. */
struct Owned {
    unsigned pid = 0;
    std::string command;
    std::size_t channel = 0; // index in the GPU's plan
};

/**
 * Writes gpu0/NAME for each readable file of the module whose name begins with one of @p prefixes
 * (for all files if there are no prefixes), and `info` and `owners`. Throws std::runtime_error.
 */
void write_tree(Machine &machine, const nvmodel::Gpu &gpu, const std::vector<Owned> &owned,
                const std::vector<std::string> &prefixes, const std::filesystem::path &folder);

} // namespace lab

#endif
