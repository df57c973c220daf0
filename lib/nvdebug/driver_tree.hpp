// SPDX-License-Identifier: MIT OR GPL-2.0
// A tree with files made from registers and memory that NVIDIA's driver lets a program read.
#pragma once

#include <memory>

#include "lib/driver/kernel.hpp"
#include "tree_impl.hpp"

namespace nvdebug::driver {

OpenedTree open_tree(std::shared_ptr<Kernel> kernel, const Advice &advice);

/// The text of @p file (`runlist0`) made again of the words in a capture: of those that finding out
/// about the GPU @p folder (`gpu0`) took, and those that were read for the file.
Result<std::string> replay(const std::map<std::string, std::string> &words,
                           const std::string &folder, const std::string &file);

} // namespace nvdebug::driver
