// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file nvtaskset(1), which keeps a program's kernels to its TPCs.
#pragma once

#include "command.hpp"

namespace nvstgm {

struct Keeper {
    std::string path;
    bool mps = true;

    static Keeper of(const Arguments &arguments);

    /// Returns the command line that runs @p command on TPCs, as `0-3`.
    std::vector<std::string> words(const std::string &tpcs,
                                   const std::vector<std::string> &command) const;
    /// Returns how many TPCs the first GPU has.
    Answer<std::size_t> tpcs() const;
};

/// Returns `--nvtaskset` and `--no-mps`.
std::vector<Option> keeper_options();

} // namespace nvstgm
