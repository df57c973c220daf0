// SPDX-License-Identifier: MIT OR GPL-2.0
#include "refusal.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/task.hpp"

#include <algorithm>
#include <cerrno>

namespace nvdebug {

namespace {

std::vector<std::uint32_t> ids_in(const Runlist &list, Listed kind) {
    std::vector<std::uint32_t> ids;
    if (kind == Listed::tsg)
        for (const ListedTsg &tsg : tsgs_of(list))
            ids.push_back(tsg.id);
    else
        for (const ListedChannel &listed : channels_of(list))
            ids.push_back(listed.channel->id);
    return ids;
}

/// Returns `no TSG`, `TSG 5` or `TSGs 0-2`, with at most the first 64 ids.
std::string named(Listed kind, std::vector<std::uint32_t> ids) {
    constexpr std::size_t most = 64;
    std::string noun = kind == Listed::tsg ? "TSG" : "channel";
    if (ids.empty())
        return "no " + noun;
    const std::size_t left = ids.size() > most ? ids.size() - most : 0;
    noun += ids.size() > 1 ? "s " : " ";
    ids.resize(ids.size() - left);
    return noun + fold_ids(ids) + (left > 0 ? " and " + std::to_string(left) + " more" : "");
}

/// Returns `runlist 0 holds TSGs 0-2, runlist 6 TSG 10`.
std::string holders(std::span<const Runlist> lists, Listed kind) {
    std::string text;
    for (const Runlist &list : lists) {
        const auto ids = ids_in(list, kind);
        if (!ids.empty())
            text += (text.empty() ? "runlist " : ", runlist ") + std::to_string(list.id) +
                    (text.empty() ? " holds " : " ") + named(kind, ids);
    }
    return text.empty() ? "none holds any" : text;
}

Error is_nowhere(std::span<const Runlist> lists, const Target &target, Listed kind) {
    const std::string what = named(kind, {target.id});
    if (!target.runlist)
        return {ErrorCode::not_found, 0, "",
                "no runlist holds " + what + " now; " + holders(lists, kind)};
    std::vector<std::uint32_t> ids;
    for (const Runlist &list : lists)
        if (list.id == *target.runlist)
            ids = ids_in(list, kind);
    return {ErrorCode::not_found, 0, "",
            "runlist " + std::to_string(*target.runlist) + " does not hold " + what +
                " now; it holds " + named(kind, ids)};
}

} // namespace

Result<const Runlist *> holder_of(std::span<const Runlist> lists, const Target &target,
                                  Listed kind) {
    std::vector<const Runlist *> found;
    for (const Runlist &list : lists)
        if (!target.runlist || *target.runlist == list.id)
            if (const auto ids = ids_in(list, kind); std::ranges::count(ids, target.id))
                found.push_back(&list);
    if (found.size() == 1)
        return found.front();
    if (found.empty())
        return tl::unexpected(is_nowhere(lists, target, kind));
    std::string places;
    for (const Runlist *list : found)
        places +=
            (places.empty() ? "" : ", ") + to_string(Target{.runlist = list->id, .id = target.id});
    return tl::unexpected(
        Error{ErrorCode::invalid, 0, "",
              named(kind, {target.id}) + " is on several runlists; say which: " + places});
}

std::string no_runlist(const Gpu &gpu, const Info &info, std::uint64_t id) {
    return gpu.folder() + " (" + text::printable(info.chip.value_or("unknown chip")) +
           ") has no runlist " + std::to_string(id) + "; it has " +
           (info.runlists.empty() ? "none" : fold_ids(info.runlists));
}

namespace {

/// The kind of object that a control targets.
enum class Kind { other, runlist, channel, tsg };

Kind kind_of(std::string_view file) {
    for (const std::string_view name : {"preempt_runlist", "resubmit_runlist", "scheduling"})
        if (file == name)
            return Kind::runlist;
    for (const std::string_view name : {"preempt_tsg", "switch_to_tsg", "set_timeslice"})
        if (file == name)
            return Kind::tsg;
    for (const std::string_view name :
         {"disable_channel", "enable_channel", "preemption_mode", "translate"})
        if (file == name)
            return Kind::channel;
    return Kind::other;
}

/// Returns the targets in a request, and skips other words.
std::vector<Target> targets_of(std::string_view file, std::string_view text) {
    std::vector<Target> targets;
    text::take_prefix(text, "lease ");
    const bool only_first = file == "set_timeslice" || file == "translate";
    while (!text.empty()) {
        const auto target = parse_target(text::take_word(text));
        // Without a runlist, the word is the address of a page directory.
        if (target && (file != "translate" || target->runlist))
            targets.push_back(*target);
        if (only_first)
            break;
    }
    return targets;
}

/// Returns the fault of a target; an empty text means none. Returns nullopt if the lists cannot be
/// read.
std::optional<std::string> wrong_with(const Gpu &gpu, const Info &info, Kind kind,
                                      const Target &target) {
    const auto runlist = kind == Kind::runlist ? std::optional(target.id) : target.runlist;
    if (runlist && !std::ranges::count(info.runlists, *runlist))
        return no_runlist(gpu, info, *runlist);
    if (kind == Kind::runlist)
        return "";
    std::vector<Runlist> lists;
    for (const std::uint32_t id : info.runlists) {
        if (runlist && *runlist != id)
            continue;
        auto list = gpu.runlist(id, Detail::brief);
        if (!list || list->torn)
            return std::nullopt;
        lists.push_back(std::move(*list));
    }
    const auto holder = holder_of(lists, target, kind == Kind::tsg ? Listed::tsg : Listed::channel);
    return holder ? "" : holder.error().sentence;
}

/// Returns the only other reason for the errno (docs/proc.md) if the targets are right; empty:
/// there are several.
std::string other_reason(std::string_view file, std::string_view text, int number) {
    text::take_prefix(text, "lease ");
    text::take_word(text);
    if (file == "set_timeslice" && number == ERANGE)
        return "a timeslice is 1.024 to 8556380.160 microseconds, not " + text::quote(text);
    if (file == "preemption_mode" && number == EINVAL && parse_preemption_mode(text))
        return "the channel has no graphics context";
    if (file == "switch_to_tsg" && number == EINVAL && text.empty())
        return "fewer channels follow the TSG's header than that says";
    return "";
}

} // namespace

Error why_refused(const Gpu &gpu, std::string_view file, std::string_view text, Error error) {
    const Kind kind = kind_of(file);
    if ((error.number != EINVAL && error.number != ERANGE) || kind == Kind::other)
        return error;
    const auto info = gpu.info();
    if (!info)
        return error;
    std::optional<std::string> why = "";
    for (const Target &target : targets_of(file, text))
        if (why = wrong_with(gpu, *info, kind, target); !why || !why->empty())
            break;
    if (why && why->empty())
        why = other_reason(file, text, error.number);
    if (why && !why->empty())
        error.sentence = "'" + text::quote(text) + "' to " + error.path + " failed: " + *why;
    return error;
}

} // namespace nvdebug
