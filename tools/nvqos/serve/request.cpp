// SPDX-License-Identifier: MIT OR GPL-2.0
#include "request.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "lib/base/printable.hpp"
#include "lib/base/task_name.hpp"
#include "tools/nvqos/gpus.hpp"

namespace nvqos {
namespace {

using nvdebug::base::printable;
using Verb = Request::Verb;

constexpr std::size_t longest_name = 128;
constexpr const char *forms =
    "requests are 'hold NAME GOAL [gpu=G]... [pid=P]... [cgroup=PATH]... "
    "[holder=P] [gang=off|nodes]', 'join' with the same words, 'release NAME', 'report "
    "NAME [words]', 'list', 'status', 'gpus' and 'watch'";

std::string short_quoted(std::string_view text) {
    constexpr std::size_t most = 80;
    return "'" + printable(text.substr(0, most)) + (text.size() > most ? "...'" : "'");
}

template <typename T>
void add_once(std::vector<T> &to, T one) {
    if (std::ranges::find(to, one) == to.end())
        to.push_back(std::move(one));
}

Outcome<void> add_word(std::string_view word, Request &request) {
    const std::size_t sign = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, sign),
                           value = word.substr(std::min(sign + 1, word.size()));
    if (key == "gpu") {
        if (auto added = add_gpus(value, request.gpus); !added)
            return fail(bad_usage, "gpu=: " + added.error().sentence);
    } else if (key == "pid" || key == "holder") {
        const auto pid = nvdebug::base::read_pid(value);
        if (!pid)
            return fail(bad_usage,
                        fmt::format("{}={}: {}", key, printable(value.substr(0, 40)), pid.error()));
        if (key == "pid")
            add_once(request.pids, *pid);
        else if (request.holder)
            return fail(bad_usage, "holder= is there twice: a tenant has one");
        else
            request.holder = *pid;
    } else if (key == "cgroup") {
        const auto path = nvdebug::base::read_cgroup(value);
        if (!path)
            return fail(bad_usage, "cgroup=: " + path.error());
        if (*path == "/")
            return fail(bad_usage, "cgroup= takes a path below the root of cgroups, as "
                                   "cgroup=/slurm/uid_1000/job_17, not " +
                                       short_quoted(value));
        add_once(request.cgroups, *path);
    } else if (key == "gang") {
        const auto gang = parse_gang(value.substr(0, 40));
        if (!gang)
            return tl::unexpected(gang.error());
        if (request.gang)
            return fail(bad_usage, "gang= is there twice: write it once");
        request.gang = *gang;
    } else {
        return fail(bad_usage,
                    short_quoted(word) +
                        " is no word of 'hold' and 'join': after NAME and GOAL there are "
                        "gpu=G, pid=P, cgroup=PATH, holder=P, gang=off and gang=nodes");
    }
    return {};
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t blank; (blank = line.find(' ')) != line.npos; line.remove_prefix(blank + 1))
        words.push_back(line.substr(0, blank));
    words.push_back(line);
    return words;
}

} // namespace

bool is_tenant_name(std::string_view text) {
    const auto is_allowed = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view("._:/-").find(c) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, is_allowed);
}

Outcome<Request> parse_request(std::string_view line) {
    if (line.size() >= Request::longest)
        return fail(bad_usage, fmt::format("the line is longer than {} bytes", Request::longest));
    if (printable(line) != line)
        return fail(bad_usage, "the line has control characters, or bytes that are not UTF-8");
    const std::vector<std::string_view> words = words_of(line);
    if (std::ranges::any_of(words, &std::string_view::empty))
        return fail(bad_usage, std::string("words are separated by one blank each; ") + forms);
    const std::pair<std::string_view, Verb> verbs[] = {
        {"hold", Verb::hold},     {"join", Verb::join},  {"release", Verb::release},
        {"report", Verb::report}, {"list", Verb::list},  {"status", Verb::status},
        {"gpus", Verb::gpus},     {"watch", Verb::watch}};
    const auto verb = std::ranges::find(verbs, words[0], &std::pair<std::string_view, Verb>::first);
    if (verb == std::end(verbs))
        return fail(bad_usage, short_quoted(words[0]) + " is no request: " + forms);
    Request request{.verb = verb->second};
    const bool has_goal = request.verb == Verb::hold || request.verb == Verb::join;
    const bool is_alone =
        !has_goal && request.verb != Verb::release && request.verb != Verb::report;
    const std::size_t least = is_alone ? 1 : has_goal ? 3 : 2;
    request.wants_words =
        request.verb == Verb::report && words.size() == least + 1 && words[least] == "words";
    if (words.size() < least || (!has_goal && words.size() > least + (request.wants_words ? 1 : 0)))
        return fail(bad_usage, fmt::format("'{}' has other words: {}", words[0], forms));
    if (is_alone)
        return request;
    if (!is_tenant_name(words[1]))
        return fail(bad_usage,
                    fmt::format("{} is no name: those are 1 to {} of A-Z a-z 0-9 . _ : / -",
                                short_quoted(words[1]), longest_name));
    request.name = words[1];
    if (!has_goal)
        return request;
    auto goal = parse_goal(words[2]);
    if (!goal)
        return fail(bad_usage, goal.error().sentence);
    request.goal = *goal;
    request.goal_word = words[2];
    for (std::size_t n = least; n < words.size(); n++)
        if (auto added = add_word(words[n], request); !added)
            return tl::unexpected(std::move(added).error());
    if (auto checked = check_gang(request.gang.value_or(Gang::on), request.goal); !checked)
        return tl::unexpected(std::move(checked).error());
    if (request.pids.empty() && request.cgroups.empty())
        return fail(bad_usage, "which processes are the tenant? Add pid=P or cgroup=PATH");
    if (request.verb == Verb::join && !request.holder)
        return fail(bad_usage, "'join' takes a holder=P, because the tenant ends with the last of "
                               "its holders");
    return request;
}

} // namespace nvqos
