// SPDX-License-Identifier: MIT OR GPL-2.0
// The two kinds of trees.
#ifndef NVDEBUG_LIB_OPEN_TREE_HPP
#define NVDEBUG_LIB_OPEN_TREE_HPP

#include "tree_impl.hpp"

namespace nvdebug {

using OpenedTree = Result<std::shared_ptr<const Tree::Impl>>;

OpenedTree open_folder(const std::string &path);
OpenedTree open_capture(const std::string &path);

} // namespace nvdebug

#endif
