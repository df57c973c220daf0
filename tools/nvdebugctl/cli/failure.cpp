// SPDX-License-Identifier: MIT OR GPL-2.0
#include "failure.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace nvdebugctl {

namespace {

/// Errors with sentences that differ only in the path.
struct AlikeErrors {
    std::string before, after;
    std::vector<std::string> paths; ///< empty: the sentence names no path
};

AlikeErrors alike(const nvdebug::Error &error) {
    const std::string &sentence = error.sentence;
    const std::size_t at = error.path.empty() ? sentence.npos : sentence.find(error.path);
    if (at == sentence.npos)
        return {sentence, "", {}};
    return {sentence.substr(0, at), sentence.substr(at + error.path.size()), {error.path}};
}

/// Returns for example `cannot read ` for `what this means: cannot read `.
std::string_view last_clause(std::string_view before) {
    const std::size_t colon = before.rfind(": ");
    return colon == before.npos ? before : before.substr(colon + 2);
}

std::string folder_of(const std::string &path) {
    return path.substr(0, path.rfind('/') + 1);
}

/// Returns `/proc/gpu0/runlist0, runlist1 and 13 more`. The folder is repeated only when it
/// changes.
std::string listed(const std::vector<std::string> &paths) {
    constexpr std::size_t most = 3;
    const std::size_t shown = paths.size() > most ? most - 1 : paths.size();
    std::string text;
    for (std::size_t n = 0; n < shown; n++) {
        const bool same = n > 0 && folder_of(paths[n]) == folder_of(paths[n - 1]);
        text +=
            (n > 0 ? ", " : "") + (same ? paths[n].substr(folder_of(paths[n]).size()) : paths[n]);
    }
    return shown < paths.size() ? fmt::format("{} and {} more", text, paths.size() - shown) : text;
}

} // namespace

std::vector<std::string> sentences_of(const std::vector<nvdebug::Error> &errors) {
    std::vector<AlikeErrors> groups;
    for (const nvdebug::Error &error : errors) {
        AlikeErrors one = alike(error);
        const auto group = std::ranges::find_if(groups, [&](const AlikeErrors &other) {
            const bool files = !one.paths.empty() && !other.paths.empty();
            return other.after == one.after &&
                   (other.before == one.before ||
                    (files && last_clause(other.before) == last_clause(one.before)));
        });
        if (group == groups.end()) {
            groups.push_back(std::move(one));
            continue;
        }
        // The first clauses differ, so they describe single files. The common sentence keeps the
        // last clause only.
        if (group->before != one.before)
            group->before = last_clause(one.before);
        if (!one.paths.empty() && !std::ranges::count(group->paths, one.paths.front()))
            group->paths.push_back(std::move(one.paths.front()));
    }
    std::vector<std::string> sentences;
    for (const AlikeErrors &group : groups)
        sentences.push_back(group.before + listed(group.paths) + group.after);
    return sentences;
}

} // namespace nvdebugctl
