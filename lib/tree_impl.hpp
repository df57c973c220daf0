// SPDX-License-Identifier: MIT OR GPL-2.0
// What a tree is made of; one kind for folders, one for captures.
#ifndef NVDEBUG_LIB_TREE_IMPL_HPP
#define NVDEBUG_LIB_TREE_IMPL_HPP

#include "nvdebug/tree.hpp"

namespace nvdebug {

struct Tree::Impl {
    std::string path;
    std::map<std::string, std::string> facts;
    bool live = false;

    virtual ~Impl() = default;

    virtual Result<std::vector<std::string>> list(std::string_view folder) const = 0;
    virtual Result<std::string> read(std::string_view name) const = 0;
    /** Is the file for reading at all (a control mostly is not)? */
    virtual bool readable(std::string_view name) const = 0;
};

/** `/proc/gpu0/info`: a file of @p tree as its user would name it. */
std::string path_in(const Tree::Impl &tree, std::string_view name);

} // namespace nvdebug

#endif
