// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file An outline with branches, drawn with lines. */
#ifndef NVDEBUGCTL_TREE_OUTLINE_HPP
#define NVDEBUGCTL_TREE_OUTLINE_HPP

#include <string>
#include <vector>

#include "page.hpp"
#include "terminal.hpp"

namespace nvdebugctl {

enum class Ink { plain, bold, dim, warning };

struct Span {
    std::string text;
    Ink ink = Ink::plain;
};

struct Branch {
    std::vector<Span> line;
    std::vector<Branch> branches;
};

/** The lines of @p root and of all below it, cut where the terminal ends. */
void draw_outline(const Branch &root, const Terminal &terminal, Page &page);

} // namespace nvdebugctl

#endif
