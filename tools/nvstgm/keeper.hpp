// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file nvtaskset(1), which keeps a program's kernels to its TPCs.
#pragma once

#include "command.hpp"

namespace nvstgm {

/// The GPU on which tasks run.
struct Gpu {
    std::string uuid;
    std::size_t tpcs;
};

struct Keeper {
    std::string path;
    bool mps = true;
    std::string gpu = {}; ///< `--gpu`, or empty: the first GPU

    static Keeper of(const Arguments &arguments);

    /// Returns the command line that runs @p command on TPCs, as `0-3`.
    std::vector<std::string> words(const std::string &tpcs,
                                   const std::vector<std::string> &command) const;
    /// Asks nvtaskset for the GPU. CUDA shows it alone to the programs that this process starts from
    /// now on, unless `--gpu` is missing and CUDA_VISIBLE_DEVICES is set.
    Answer<Gpu> choose_gpu() const;
};

/// Returns `--nvtaskset`, `--gpu` and `--no-mps`.
std::vector<Option> keeper_options();

} // namespace nvstgm
