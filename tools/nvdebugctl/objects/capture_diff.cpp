// SPDX-License-Identifier: MIT OR GPL-2.0
// `capture diff`.
#include <algorithm>
#include <fmt/format.h>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "objects.hpp"
#include "state/changes.hpp"

namespace nvdebugctl {

namespace {

/// A GPU of a capture, and what identifies it in another capture.
struct CapturedGpu {
    std::uint32_t index;
    std::optional<std::string> chip;
    Facts facts;
};

struct Captured {
    std::string captured_at; ///< empty: not known
    std::vector<CapturedGpu> gpus;
};

/// Reads a capture, or a folder with the same layout. Parts that cannot be read are missing.
Outcome<Captured> read_captured(Context &context, const std::string &path) {
    const auto tree = nvdebug::Tree::open(path);
    if (!tree)
        return tl::unexpected(of_named_file(tree.error()));
    const auto gpus = nvdebug::gpus(*tree);
    if (!gpus)
        return tl::unexpected(Failure(gpus.error()));
    Captured captured;
    if (const auto found = tree->facts().find("captured_at"); found != tree->facts().end())
        captured.captured_at = found->second;
    for (const nvdebug::Gpu &gpu : *gpus) {
        Moment moment = read_moment(gpu);
        for (nvdebug::Error &error : moment.errors)
            context.missing(std::move(error));
        const auto info = gpu.info();
        captured.gpus.push_back(
            {gpu.index(), info ? info->chip : std::nullopt, std::move(moment.facts)});
    }
    if (captured.gpus.empty())
        return fail(nvdebug::ErrorCode::unsupported, path + " has no GPU");
    return captured;
}

const CapturedGpu *find_gpu(const Captured &captured, std::uint32_t index) {
    const auto found = std::ranges::find(captured.gpus, index, &CapturedGpu::index);
    return found == captured.gpus.end() ? nullptr : &*found;
}

Outcome<Document> diff_captures(Context &context) {
    const std::string &first = context.words("BEFORE").front(),
                      &second = context.words("AFTER").front();
    const auto before = read_captured(context, first);
    if (!before)
        return tl::unexpected(before.error());
    const auto after = read_captured(context, second);
    if (!after)
        return tl::unexpected(after.error());
    Json rows = Json::array();
    const auto only_in = [&](std::uint32_t index, const std::string &path) {
        context.missing({nvdebug::ErrorCode::not_found, 0, path,
                         fmt::format("gpu{} is in {} alone, and is not compared", index, path)});
    };
    for (const CapturedGpu &now : after->gpus) {
        const CapturedGpu *const old = find_gpu(*before, now.index);
        if (!old) {
            only_in(now.index, second);
            continue;
        }
        if (old->chip != now.chip)
            return usage(fmt::format("gpu{} is {} in {} and {} in {}: a difference is between two "
                                     "moments of one machine",
                                     now.index, old->chip.value_or("unknown"), first,
                                     now.chip.value_or("unknown"), second));
        for (Json &row : changes_between(now.index, old->facts, now.facts))
            rows.push_back(std::move(row));
    }
    for (const CapturedGpu &old : before->gpus)
        if (!find_gpu(*after, old.index))
            only_in(old.index, first);
    const auto time = [](const Captured &one) {
        return one.captured_at.empty() ? Json() : Json(one.captured_at);
    };
    return Document{{{"before_at", time(*before)}, {"after_at", time(*after)}, {"changes", rows}},
                    rows};
}

void show_changes(const Json &data, Page &page) {
    if (!data["before_at"].is_null() && !data["after_at"].is_null())
        page.line(page.dim(fmt::format("from {} to {}", data["before_at"].get<std::string>(),
                                       data["after_at"].get<std::string>())));
    for (const Json &row : data["changes"])
        page.line(shown_change(row));
    if (data["changes"].empty())
        page.line("nothing changed in runlists, TSGs, channels, copy engines and processes");
}

} // namespace

Command capture_diff_command() {
    return {
        .object = "capture",
        .verb = "diff",
        .help = "what changed between two captures",
        .scope = Scope::nothing,
        .arguments = {{"BEFORE", Argument::Kind::file, "a capture, or a folder like /proc"},
                      {"AFTER", Argument::Kind::file, "another one of the same machine"}},
        .columns = change_columns(),
        .fields = {{"before_at", "when the first was made; null: not known", "string?"},
                   {"after_at", "when the second was made; null: not known", "string?"},
                   {"changes", "what changed, by GPU and object", "[object]",
                    fields_of(change_columns())}},
        .notes = {"Compares processes, runlists, TSGs, channels and copy engines. What moves by "
                  "itself is left out: what is on an engine, whether a channel has work, and "
                  "where a list is in memory.",
                  "Parts that either capture lacks are not compared.",
                  "'nvdebugctl watch --changes' shows the same for a running GPU."},
        .examples = {{"nvdebugctl capture diff before.capture after.capture",
                      "a line for each change"},
                     {"nvdebugctl -j capture diff a b | jq -c '.data.changes[]'", "for a program"}},
        .run = diff_captures,
        .text = show_changes};
}

} // namespace nvdebugctl
