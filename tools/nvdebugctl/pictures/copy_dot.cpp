// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pictures/pictures.hpp"

namespace nvdebugctl {

namespace {

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out + '"';
}

/** A node's attribute `label` of several lines: `\n` is DOT's own escape. */
std::string label_of(const std::vector<std::string> &lines) {
    std::string text = quoted(fmt::format("{}", fmt::join(lines, "\n")));
    for (std::size_t at; (at = text.find('\n')) != text.npos;)
        text.replace(at, 1, "\\n");
    return text;
}

std::string node_of(const WiredRunlist &runlist) {
    return quoted(runlist.id ? fmt::format("Runlist {}", *runlist.id) : "no runlist");
}

std::string pce_node(std::uint32_t pce) {
    return quoted(fmt::format("PCE {}", pce));
}

std::string dot_of(const WiredLce &lce, const std::string &runlist) {
    std::vector<std::string> words{
        lce.graphics_name.empty() ? lce.name : fmt::format("{} ({})", lce.name, lce.graphics_name)};
    bool idle = lce.pces.empty() && !lce.lender;
    if (lce.lender)
        words.push_back(fmt::format("borrows from {}", *lce.lender));
    if (idle)
        words.push_back("no PCE: cannot copy");
    std::string text =
        fmt::format("  {} [label={}{}];\n  {} -> {};\n", quoted(lce.name), label_of(words),
                    idle ? ", style=dotted" : "", runlist, quoted(lce.name));
    for (std::uint32_t pce : lce.pces)
        text += fmt::format("  {} -> {} [color=\"#0072B2\", penwidth=2];\n", quoted(lce.name),
                            pce_node(pce));
    for (std::uint32_t pce : lce.borrowed)
        text += fmt::format("  {} -> {} [color=\"#D55E00\", penwidth=2, style=dashed, "
                            "label=\"borrowed\"];\n",
                            quoted(lce.name), pce_node(pce));
    return text;
}

std::string dot_of(const WiredRunlist &runlist) {
    std::vector<std::string> words{runlist.id ? fmt::format("Runlist {}", *runlist.id)
                                              : "no runlist"};
    if (!runlist.other_engines.empty())
        words.push_back(fmt::format("also {}", fmt::join(runlist.other_engines, ", ")));
    std::string text = fmt::format("  {} [label={}, style=filled, fillcolor=\"#E8E8E8\"];\n",
                                   node_of(runlist), label_of(words));
    for (const WiredLce &lce : runlist.lces)
        text += dot_of(lce, node_of(runlist));
    return text;
}

std::string dot_of(const WiredPce &pce) {
    std::vector<std::string> words{fmt::format("PCE {}", pce.pce)};
    if (pce.contenders.empty())
        return fmt::format("  {} [label={}];\n", pce_node(pce.pce), label_of(words));
    words.push_back(fmt::format("{} contend (R8)", fmt::join(pce.contenders, ", ")));
    return fmt::format("  {} [label={}, color=\"#D55E00\", penwidth=3, peripheries=2];\n",
                       pce_node(pce.pce), label_of(words));
}

} // namespace

std::string copy_dot(const CopyWiring &wiring, const Caption &caption) {
    std::string text = fmt::format(
        "digraph copy_engines {{\n"
        "  graph [rankdir=LR, labelloc=t, fontname=\"sans-serif\", label={}];\n"
        "  node [shape=box, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\"];\n",
        label_of({"Copy engines: runlists, logical and physical engines", caption.gpu,
                  fmt::format("Source: {}. Drawn by {}.", caption.source, caption.command)}));
    for (const WiredRunlist &runlist : wiring.runlists)
        text += dot_of(runlist);
    for (const WiredPce &pce : wiring.pces)
        text += dot_of(pce);
    for (std::uint32_t pce : wiring.unused)
        text += fmt::format("  {} [label={}, style=dotted];\n", pce_node(pce),
                            label_of({fmt::format("PCE {}", pce), "serves no LCE"}));
    return text + "}\n";
}

} // namespace nvdebugctl
