// SPDX-License-Identifier: MIT OR GPL-2.0
// A tree with files that this process makes from the registers and memory that NVIDIA's driver lets
// it read.
#pragma once

#include <memory>

#include "lib/driver/kernel.hpp"
#include "tree_impl.hpp"

namespace nvdebug::driver {

OpenedTree open_tree(std::shared_ptr<Kernel> kernel, const Advice &advice);

/// Makes the text of @p file (`runlist0`) again from the words of a capture: the words that
/// identified the GPU @p folder (`gpu0`), and the words that were read for the file.
Result<std::string> replay(const std::map<std::string, std::string> &words,
                           const std::string &folder, const std::string &file);

} // namespace nvdebug::driver
