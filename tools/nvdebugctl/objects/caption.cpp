// SPDX-License-Identifier: MIT OR GPL-2.0
#include "caption.hpp"

#include <chrono>
#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {
namespace {

std::string gpu_of(const Context &context) {
    std::string text = fmt::format("GPU {}", context.gpu().index());
    const auto info = context.gpu().info();
    if (!info)
        return text;
    text += ": " + info->chip.value_or("unknown chip");
    if (info->generation)
        text += fmt::format(" ({})", *info->generation);
    if (info->pci_address)
        text += ", PCI " + *info->pci_address;
    return text;
}

std::string source_of(const Context &context) {
    const nvdebug::Tree &tree = context.tree();
    std::string now = format_utc(std::chrono::system_clock::now());
    const auto made = tree.facts().find("captured_at");
    if (made != tree.facts().end())
        return fmt::format("capture {}, made {}", tree.path(), made->second);
    if (source_kind(tree) != "folder")
        return fmt::format("live, {}", now);
    return fmt::format("{}, read {}", tree.path(), now);
}

} // namespace

drawing::Caption caption_of(const Context &context, std::string_view option) {
    return {
        gpu_of(context), source_of(context),
        fmt::format("nvdebugctl {}, {} {}", NVDEBUGCTL_VERSION, context.command().name(), option)};
}

} // namespace nvdebugctl
