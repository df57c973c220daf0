// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Names of GPUs, as options, files and requests have them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "nvdebug/gpu.hpp"
#include "nvdebug/product.hpp"
#include "nvdebug/tree.hpp"

namespace nvqos {

/// Opens NVIDIA's driver, or a stand-in for it, in any thread. A tree of its own has its own
/// searches for tasks, so a search that hangs does not block the searches of another tree.
using Open = std::function<nvdebug::Result<nvdebug::Tree>()>;

/// The names of a GPU.
struct GpuFacts {
    std::uint32_t number;          ///< NVIDIA's driver counts its GPUs from 0 on
    std::string address = {};      ///< on its bus, `0000:01:00.0`; empty: not known so far
    nvdebug::Product product = {}; ///< UUID and device file
};

/// Reads the names. Opens the GPU, and takes as long as the driver does.
GpuFacts facts_of(const nvdebug::Gpu &gpu);

/// Adds the names of a list, `0,2`, each once. Fails with Exit::bad_usage if a word can name no
/// GPU. Does not check that the GPU exists.
Outcome<void> add_gpus(std::string_view words, std::vector<std::string> &to);

/// Returns the numbers of the GPUs among @p gpus that the names mean, each once; none: all are
/// meant. Reads nothing. Fails if a name means none or several: with Exit::bad_usage, or with
/// Exit::failed if it may be the name of a GPU of which GpuFacts::address is not known.
Outcome<std::vector<std::uint32_t>> numbers_of(const std::vector<std::string> &names,
                                               const std::vector<GpuFacts> &gpus);

/// Returns the numbers of the GPUs in @p tree that the names mean, in rising order. If all are meant,
/// GPUs to which this process has no access are left out with a warning. Opens GPUs only if some name
/// is no number, each in a thread of its own. A GPU that does not answer within @p longest has no
/// names. Fails as numbers_of(), and with Exit::not_supported if the tree has no GPU.
Outcome<std::vector<std::uint32_t>> find_numbers(const std::vector<std::string> &names,
                                                 const nvdebug::Tree &tree, const Open &open,
                                                 std::chrono::milliseconds longest,
                                                 const Warn &warn);

} // namespace nvqos
