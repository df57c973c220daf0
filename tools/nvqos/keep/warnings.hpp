// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Warnings about one GPU, each of them once.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <set>
#include <string>
#include <utility>

#include "tools/nvqos/failure.hpp"

namespace nvqos {

class Warnings {
  public:
    Warnings(Warn warn, std::uint32_t gpu) : warn_(std::move(warn)), gpu_(gpu) {}

    /// Warns with `gpuN: ` and the sentence, unless it did so before. Processes decide what some
    /// sentences are, so it warns of the first thousand alone.
    void once(const std::string &sentence) {
        constexpr std::size_t most = 1000;
        if (said_.size() < most && said_.insert(sentence).second)
            every_time()(sentence);
    }
    /// Returns a function that warns at each call, in any thread, and may outlive this object.
    Warn every_time() const {
        return [warn = warn_, gpu = gpu_](const std::string &sentence) {
            warn(fmt::format("gpu{}: {}", gpu, sentence));
        };
    }

  private:
    const Warn warn_;
    const std::uint32_t gpu_;
    std::set<std::string> said_;
};

} // namespace nvqos
