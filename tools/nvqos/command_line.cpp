// SPDX-License-Identifier: MIT OR GPL-2.0
#include "command_line.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "gpus.hpp"
#include "lib/base/container_device.hpp"
#include "lib/base/printable.hpp"
#include "socket.hpp"

namespace nvqos {

using nvdebug::base::printable;

namespace {

const std::vector<std::string> goal_forms = {
    "share:", "cap:", "speed:", "latency", "best-effort", "timeslice:"};

} // namespace

const std::vector<Option> &options() {
    static const std::vector<Option> all = {
        {"--file", "-f", "FILE", "goals from a TOML file, which is read again on SIGHUP"},
        {"--gpu", "-g", "GPU",
         "only this GPU, or these: 0,2, a UUID, a PCI address, /dev/nvidia0 (default: all)"},
        {"--epoch", "-e", "TIME", "how often turns are divided anew (default: 100ms)"},
        {"--scheme",
         "-s",
         "NAME",
         "what becomes of a part that was not used (default: rollover)",
         {std::begin(scheme_names), std::end(scheme_names)}},
        {"--socket",
         "",
         "PATH",
         fmt::format("keep goals that root's programs ask for there, too (default: {})",
                     Socket::usual_path),
         {},
         true},
        {"--tpcs", "", "", "divide TPCs, too, where a speed is kept by launches"},
        {"--cdi", "", "GOAL", "write that device's file; containers with it have the goal",
         goal_forms},
        {"--cdi-folder", "", "FOLDER",
         fmt::format("there (default: {}, until the next boot; /etc/cdi stays)",
                     nvdebug::base::device_folder)},
        {"--hold-container", "", "GOAL",
         "what the file has runtimes run: asks the nvqos at --socket", goal_forms},
        {"--for", "", "TIME", "end after that time, as 90s"},
        {"--interval", "-i", "TIME", "how often the table is printed (default: 1s)"},
        {"--dry-run", "", "", "print what would be kept or refused, and change nothing"},
        {"--metrics", "", "FILE", "a file for Prometheus, replaced each second, gone at the end"},
        {"--json", "-j", "", "a line of JSON for each epoch of each GPU"},
        {"--quiet", "-q", "", "print nothing but errors"},
        {"--help", "-h", "", "this"},
        {"--version", "-V", "", "which version this is"}};
    return all;
}

namespace {

const Option *find(const std::string &typed) {
    for (const Option &option : options())
        if (option.name == typed || (!option.short_name.empty() && option.short_name == typed))
            return &option;
    return nullptr;
}

Outcome<void> take_time(const Option &option, const std::string &value, qos::Ns least,
                        qos::Ns &to) {
    const auto time = parse_time(value);
    if (!time || *time < least)
        return fail(bad_usage,
                    fmt::format("{} takes a time of at least {:g}ms, as 100ms or 2s, not '{}'",
                                option.name,
                                static_cast<double>(least) / static_cast<double>(qos::ms),
                                printable(value)));
    to = *time;
    return {};
}

Outcome<void> take(const Option &option, const std::string &value, Invocation &invocation) {
    const std::string &name = option.name;
    if (name == "--help") {
        invocation.what = Invocation::What::help;
    } else if (name == "--version") {
        invocation.what = Invocation::What::version;
    } else if (name == "--file") {
        invocation.file = value;
    } else if (name == "--gpu") {
        if (auto added = add_gpus(value, invocation.typed.gpus); !added)
            return fail(bad_usage, "--gpu: " + added.error().sentence);
    } else if (name == "--epoch") {
        invocation.has_epoch = true;
        return take_time(option, value, qos::ms, invocation.typed.settings.epoch);
    } else if (name == "--scheme") {
        const auto scheme = parse_scheme(value);
        if (!scheme)
            return fail(bad_usage, "--scheme: " + scheme.error().sentence);
        invocation.has_scheme = true;
        invocation.typed.settings.scheme = *scheme;
    } else if (name == "--for") {
        qos::Ns length = 0;
        if (auto taken = take_time(option, value, qos::ms, length); !taken)
            return taken;
        invocation.length = length;
    } else if (name == "--socket") {
        invocation.socket = value;
    } else if (name == "--cdi" || name == "--hold-container") {
        if (!invocation.container.goal.empty())
            return fail(bad_usage, "--cdi and --hold-container take one goal for all that is in "
                                   "the container, as share:30%,cap:50%; give one of them once");
        if (auto goal = parse_goal(value); !goal)
            return fail(bad_usage, name + ": " + goal.error().sentence);
        invocation.container.goal = value;
        if (invocation.what == Invocation::What::run)
            invocation.what =
                name == "--cdi" ? Invocation::What::write_device : Invocation::What::hold_container;
    } else if (name == "--cdi-folder") {
        invocation.cdi_folder = value;
    } else if (name == "--interval") {
        return take_time(option, value, 100 * qos::ms, invocation.interval);
    } else if (name == "--metrics") {
        invocation.metrics = value;
    } else if (name == "--tpcs") {
        invocation.typed.tpcs = true;
    } else if (name == "--dry-run") {
        invocation.dry_run = true;
    } else if (name == "--json") {
        invocation.json = true;
    } else {
        invocation.quiet = true;
    }
    return {};
}

} // namespace

Outcome<Asked> goals_of(const Invocation &invocation) {
    Asked asked = invocation.typed;
    if (!invocation.file)
        return asked;
    auto read = read_goals(*invocation.file);
    if (!read)
        return read;
    // What is typed stands above the file.
    if (!invocation.has_epoch)
        asked.settings.epoch = read->settings.epoch;
    if (!invocation.has_scheme)
        asked.settings.scheme = read->settings.scheme;
    if (asked.gpus.empty())
        asked.gpus = read->gpus;
    asked.tpcs = asked.tpcs || read->tpcs;
    if (text_of(asked.others) == text_of(qos::Goal()))
        asked.others = read->others;
    std::ranges::move(read->tenants, std::back_inserter(asked.tenants));
    if (!asked.any() && !invocation.socket)
        return fail(bad_usage, printable(*invocation.file) +
                                   " has no goal: neither a [[tenant]] nor others = \"cap:20%\"");
    return asked;
}

namespace {

/// Of a device or its hook, whose options are few.
Outcome<Invocation> finish_container(Invocation invocation, const std::vector<std::string> &named,
                                     bool has_words) {
    const bool writes = invocation.what == Invocation::What::write_device;
    const std::string own = writes ? "--cdi" : "--hold-container";
    for (const std::string &name : named)
        if (name != own && name != "--gpu" && name != "--socket" &&
            (name != "--cdi-folder" || !writes))
            return fail(bad_usage, name + " has no effect with " + own);
    if (has_words)
        return fail(bad_usage, own + " takes a goal, and no WHO=GOAL: the tenant is the container "
                                     "that has the device");
    invocation.container.gpus = invocation.typed.gpus;
    invocation.container.socket = invocation.socket.value_or(Socket::usual_path);
    if (!invocation.container.socket.starts_with('/'))
        return fail(bad_usage, "--socket takes a path from the root on with " + own +
                                   ", since runtimes have folders of their own");
    return invocation;
}

} // namespace

Outcome<Invocation> parse(const std::vector<std::string> &words) {
    Invocation invocation;
    std::vector<std::string> named;
    bool only_goals = false, has_words = false;
    for (std::size_t at = 0; at < words.size(); at++) {
        std::string word = words[at];
        if (only_goals || !word.starts_with('-')) {
            if (auto added = add_word(word, invocation.typed); !added)
                return tl::unexpected(added.error());
            has_words = true;
            continue;
        }
        if (word == "--") {
            only_goals = true;
            continue;
        }
        std::optional<std::string> value;
        if (const std::size_t sign = word.find('='); word.starts_with("--") && sign != word.npos) {
            value = word.substr(sign + 1);
            word.resize(sign);
        }
        const Option *const option = find(word);
        if (!option)
            return fail(bad_usage,
                        "there is no option " + printable(word) + "; 'nvqos --help' lists them");
        if (option->may_lack_value && !value)
            value = Socket::usual_path;
        if (option->value.empty() && value)
            return fail(bad_usage, option->name + " takes no value");
        if (!option->value.empty() && !value) {
            if (at + 1 == words.size())
                return fail(bad_usage, option->name + " takes a value: " + option->value);
            value = words[++at];
        }
        if (auto taken = take(*option, value.value_or(""), invocation); !taken)
            return tl::unexpected(taken.error());
        named.push_back(option->name);
    }
    if (invocation.what == Invocation::What::help || invocation.what == Invocation::What::version)
        return invocation;
    if (invocation.what != Invocation::What::run)
        return finish_container(std::move(invocation), named, has_words);
    if (std::ranges::find(named, "--cdi-folder") != named.end())
        return fail(bad_usage, "--cdi-folder is where --cdi writes; give the goal with --cdi");
    if (invocation.json && invocation.quiet)
        return fail(bad_usage, "--json and --quiet exclude each other");
    if (invocation.dry_run && invocation.socket)
        return fail(bad_usage, "--dry-run and --socket exclude each other");
    if (!invocation.file && !invocation.socket && !invocation.typed.any())
        return fail(bad_usage, "no goal is named: write command:serve=latency, others=cap:20%, "
                               "--file FILE or --socket; 'nvqos --help' says more");
    auto asked = goals_of(invocation);
    if (!asked)
        return tl::unexpected(asked.error());
    invocation.asked = std::move(*asked);
    return invocation;
}

std::string help() {
    std::string text =
        "Usage: nvqos [OPTION]... [WHO=GOAL[,GOAL]...]...\n"
        "Keep goals for tasks that share a GPU, until it ends; then all is as before.\n\n"
        "WHO   PID, container:ID, pod:UID, cgroup:PATH, command:NAME, all-of:PID,\n"
        "      job:ID, or others\n"
        "GOAL  share:N%  at least so much of the time, while it has work\n"
        "      speed:N%  at least so much of its speed alone, by GPU time, or by\n"
        "                launches at an MPS server\n"
        "      cap:N%    in no second more; also beside another goal\n"
        "      latency[:TIME]  served first; in TIME 99 of 100 requests are to end,\n"
        "                which is seen of tasks that nvtaskset started\n"
        "      best-effort[:WEIGHT]  what is left (default)\n"
        "      timeslice:TIME  turns of this length, as 500us\n\n";
    std::size_t width = 0;
    const auto heading = [](const Option &option) {
        return (option.short_name.empty() ? "    " : option.short_name + ", ") + option.name +
               (option.value.empty()    ? ""
                : option.may_lack_value ? "[=" + option.value + "]"
                                        : " " + option.value);
    };
    for (const Option &option : options())
        width = std::max(width, heading(option).size());
    for (const Option &option : options())
        text += fmt::format("  {:{}}  {}\n", heading(option), width, option.help);
    return text + "\nExamples:\n"
                  "  sudo nvqos command:serve=latency\n"
                  "      requests of a service are served before all others'\n"
                  "  sudo nvqos container:3f2a=share:30% job:17=cap:20%\n"
                  "      a part for one tenant, and an end for another\n"
                  "  sudo nvqos --socket\n"
                  "      goals that Slurm's plugin and the like ask for\n"
                  "  sudo nvqos --cdi share:30%\n"
                  "      a device for containers: nvdebug.io/qos=share-30\n\n"
                  "Exit status: 0; 1: usage; 2: refused, as goals cannot be kept; 3: never on this "
                  "machine;\n"
                  "4: a goal was not kept, or a GPU left out; 5: failed, may work later.\n"
                  "Manual: nvqos(1)\n";
}

std::vector<std::string> completions(const std::vector<std::string> &words) {
    const std::string typed = words.empty() ? "" : words.back();
    std::vector<std::string> candidates, found;
    const Option *const before = words.size() > 1 ? find(words[words.size() - 2]) : nullptr;
    if (before && !before->value.empty() && !before->may_lack_value) {
        // Of goals the last one; those before it stay.
        const std::size_t comma = before->value == "GOAL" ? typed.rfind(',') : typed.npos;
        for (const std::string &choice : before->choices)
            candidates.push_back(typed.substr(0, comma + 1) + choice);
    } else if (typed.starts_with('-')) {
        for (const Option &option : options())
            candidates.push_back(option.name);
    } else if (const std::size_t sign = typed.rfind('='); sign != typed.npos) {
        const std::size_t comma = typed.rfind(',');
        const std::string head =
            typed.substr(0, std::max(sign, comma == typed.npos ? sign : comma) + 1);
        for (const std::string &goal : goal_forms)
            candidates.push_back(head + goal);
    } else {
        candidates = {"container:", "pod:", "cgroup:", "command:", "all-of:", "job:", "others="};
    }
    for (const std::string &candidate : candidates)
        if (candidate.starts_with(typed))
            found.push_back(candidate);
    return found;
}

} // namespace nvqos
