// SPDX-License-Identifier: MIT OR GPL-2.0
#include "context.hpp"

#include <fmt/format.h>

#include "gpu_select.hpp"

namespace nvdebugctl {
Outcome<void> Context::open() {
    if (command().scope == Scope::nothing)
        return {};
    const auto from = value("--from");
    if (from && command().control)
        return tl::unexpected(
            Failure({nvdebug::ErrorCode::unsupported, 0, *from,
                     fmt::format("'{}' changes a GPU, and {} is none; say it without --from",
                                 command().name(), *from)}));
    const nvdebug::Advice advice{.diagnose = "nvdebugctl doctor",
                                 .capture = "nvdebugctl capture FILE"};
    auto tree =
        from ? nvdebug::Tree::open(*from, advice) : nvdebug::Tree::folder("/proc", advice);
    if (!tree)
        return tl::unexpected(Failure(tree.error()));
    tree_ = *tree;
    const auto wanted = value("--gpu");
    if (command().scope == Scope::tree || (command().scope == Scope::gpus && !wanted))
        return {};
    auto selected = select_gpu(*tree_, wanted);
    if (!selected)
        return tl::unexpected(selected.error());
    gpu_ = selected->gpu;
    if (!selected->note.empty())
        note(selected->note);
    return {};
}

const std::vector<std::string> &Context::words(std::string_view argument) const {
    static const std::vector<std::string> none;
    const auto found = invocation_.arguments.find(argument);
    return found == invocation_.arguments.end() ? none : found->second;
}

std::vector<std::uint32_t> Context::runlists() const {
    std::vector<std::uint32_t> ids;
    for (const Argument &argument : command().arguments)
        if (argument.kind == Argument::Kind::runlist)
            for (const std::string &word : words(argument.name))
                ids.push_back(*parse_id(word));
    return ids;
}

std::vector<nvdebug::Target> Context::targets() const {
    std::vector<nvdebug::Target> targets;
    for (const Argument &argument : command().arguments)
        if (argument.kind == Argument::Kind::channel || argument.kind == Argument::Kind::tsg)
            for (const std::string &word : words(argument.name))
                targets.push_back(*nvdebug::parse_target(word));
    return targets;
}

bool Context::flag(std::string_view option) const {
    return invocation_.has(option);
}

std::optional<std::string> Context::value(std::string_view option) const {
    const auto found = invocation_.options.find(option);
    if (found == invocation_.options.end())
        return std::nullopt;
    return found->second;
}

} // namespace nvdebugctl
