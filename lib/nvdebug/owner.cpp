// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/owner.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/parse.hpp"

#include <algorithm>
#include <limits>

namespace nvdebug {
namespace {

using text::key;
using text::Value;

constexpr text::Key<Owners> counts[] = {
    key<&Owners::hidden>("hidden"),      key<&Owners::denied>("denied"),
    key<&Owners::ended>("ended"),        key<&Owners::refused>("refused"),
    key<&Owners::cut>("cut").optional(), key<&Owners::lacked>("lacked").optional(),
};

struct Row {
    Process process;
    std::optional<std::uint32_t> client, tsg, channel;
    std::optional<std::uint64_t> timeslice_us;
    Place instance_place;
};

/// What stands for a byte in a word: `\\x20`.
std::optional<char> escaped(std::string_view text) {
    constexpr std::size_t length = 4;
    if (text.size() < length || !text.starts_with("\\x"))
        return std::nullopt;
    const auto byte = text::number("0x" + std::string(text.substr(2, 2)));
    return byte ? std::optional(static_cast<char>(*byte)) : std::nullopt;
}

template <auto Member>
void set_word(const Value &value, Row &row) {
    if (value.unknown())
        return;
    std::string &to = (row.process.*Member).emplace();
    for (std::string_view rest = value.text; !rest.empty();) {
        const auto byte = escaped(rest);
        if (!byte && rest.front() == '\\')
            return value.fail("a word with bytes as '\\xHH'");
        to += byte ? *byte : rest.front();
        rest.remove_prefix(byte ? 4 : 1);
    }
}

void set_timeslice(const Value &value, Row &row) {
    text::read(value, row.timeslice_us);
    if (row.timeslice_us > std::numeric_limits<std::uint32_t>::max())
        value.fail("a timeslice");
}

constexpr text::Key<Row> columns[] = {
    key<&Row::process, &Process::pid>("pid"),
    {"command", set_word<&Process::command>},
    {"cgroup", set_word<&Process::cgroup>},
    key<&Row::client>("client"),
    key<&Row::tsg>("tsg"),
    {"timeslice_us", set_timeslice},
    key<&Row::channel>("channel"),
    key<&Row::instance_place, &Place::address>("address"),
    key<&Row::instance_place, &Place::aperture>("aperture"),
};

/// Texts of older versions have none.
constexpr text::Key<Row> later_columns[] = {
    key<&Row::process, &Process::uid>("uid"),
    key<&Row::process, &Process::started>("started"),
};

void add(const Row &row, Owners &owners) {
    if (std::ranges::find(owners.processes, row.process.pid, &Process::pid) ==
        owners.processes.end())
        owners.processes.push_back(row.process);
    if (!row.client || !row.channel)
        return;
    owners.channels.push_back(
        {row.process.pid, *row.client, row.tsg,
         row.timeslice_us ? std::optional(*row.timeslice_us * 1000) : std::nullopt, *row.channel,
         row.instance_place});
}

} // namespace

Result<Owners> parse_owners(std::string_view text) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    const std::string_view head = text.substr(0, end + 1);
    const std::string_view table = text.substr(std::min(end + 2, text.size()));
    return text::parse_record<Owners>(head, counts).and_then([&](Owners owners) {
        return text::parse_table<Row>(table, columns, later_columns)
            .map([&](const std::vector<Row> &rows) {
                for (const Row &row : rows)
                    add(row, owners);
                return std::move(owners);
            });
    });
}

const Process *owner_of(const Owners &owners, const Channel &channel) {
    if (!channel.instance_place.address)
        return nullptr;
    std::optional<std::uint32_t> pid;
    for (const OwnedChannel &owned : owners.channels) {
        if (owned.instance_place != channel.instance_place)
            continue;
        if (pid && pid != owned.pid)
            return nullptr;
        pid = owned.pid;
    }
    const auto process = std::ranges::find(owners.processes, pid, &Process::pid);
    return process == owners.processes.end() ? nullptr : &*process;
}

bool same_process(const Process &a, const Process &b) {
    return a.pid == b.pid && (!a.started || !b.started || a.started == b.started);
}

namespace {

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// 64 digits: the whole name, or what a runtime's scope has behind its last `-` or `:`.
std::optional<std::string> id_in(std::string_view name) {
    constexpr std::size_t digits = 64;
    constexpr std::string_view end = ".scope";
    const bool is_scope = name.ends_with(end);
    if (is_scope)
        name.remove_suffix(end.size());
    const std::size_t before = name.find_last_of("-:");
    if (is_scope && before == name.npos)
        return std::nullopt;
    if (before != name.npos)
        name.remove_prefix(before + 1);
    return name.size() == digits && is_hex(name) ? std::optional(std::string(name)) : std::nullopt;
}

/// `pod0f5a1c2e-…`, `kubepods-burstable-pod0f5a1c2e_….slice`.
std::optional<std::string> pod_in(std::string_view name) {
    constexpr std::size_t length = 36;
    constexpr std::string_view end = ".slice", prefix = "pod";
    name = name.substr(0, name.find(':')); // where containerd writes systemd's form as one name
    if (name.ends_with(end))
        name.remove_suffix(end.size());
    if (name.size() < prefix.size() + length)
        return std::nullopt;
    const std::string_view before = name.substr(0, name.size() - length);
    std::string uid(name.substr(before.size()));
    std::ranges::replace(uid, '_', '-'); // as systemd's names of slices have it
    if (!(before == prefix || before.ends_with("-pod")))
        return std::nullopt;
    for (std::size_t n = 0; n < length; n++) {
        const bool dash = n == 8 || n == 13 || n == 18 || n == 23;
        if (dash ? uid[n] != '-' : !is_hex(uid.substr(n, 1)))
            return std::nullopt;
    }
    return uid;
}

/// Units below which only runtimes make cgroups of containers.
bool is_runtime(std::string_view unit) {
    constexpr std::string_view runtimes[] = {"containerd.service", "crio.service",
                                             "docker.service",     "k3s.service",
                                             "kubelet.service",    "rke2.service"};
    return std::ranges::find(runtimes, unit) != std::end(runtimes);
}

/// Returns whether users may make cgroups of any name below one of this name.
bool is_delegated(std::string_view name) {
    return name == "user.slice" || name.starts_with("user-") || name.starts_with("user@") ||
           name.ends_with(".scope") || (name.ends_with(".service") && !is_runtime(name));
}

struct Runtime {
    std::optional<std::string> container, pod;
};

/// Considers names from the root on, down to a cgroup below which users choose names.
Runtime runtime_of(const Process &process) {
    const std::string cgroup = process.cgroup.value_or("");
    Runtime found;
    bool in_pods = false;
    for (std::string_view rest = cgroup; !rest.empty();) {
        const std::string_view name = text::take_until(rest, '/');
        const std::string_view unit = name.substr(0, name.find(':'));
        in_pods = in_pods || unit == "kubepods" || unit == "kubepods.slice" ||
                  unit.starts_with("kubepods-") || unit.ends_with("-kubepods.slice");
        if (in_pods && !found.pod)
            found.pod = pod_in(name);
        found.container = id_in(name);
        if (found.container || is_delegated(name))
            break;
    }
    return found;
}

} // namespace

std::optional<std::string> container_of(const Process &process) {
    return runtime_of(process).container;
}

std::optional<std::string> pod_of(const Process &process) {
    return runtime_of(process).pod;
}

std::optional<std::string> job_of(const Process &process) {
    std::string_view rest = process.cgroup ? std::string_view(*process.cgroup) : std::string_view();
    text::take_until(rest, '/');
    const std::string_view first = text::take_until(rest, '/'),
                           second = text::take_until(rest, '/');
    std::string_view job = text::take_until(rest, '/');
    const bool is_slurm =
        first == "system.slice"
            ? second == "slurmstepd.scope" || second.ends_with("_slurmstepd.scope")
            : (first == "slurm" || first.starts_with("slurm_")) && second.starts_with("uid_");
    if (!is_slurm || !text::take_prefix(job, "job_") || job.empty() ||
        job.find_first_not_of("0123456789") != job.npos)
        return std::nullopt;
    return std::string(job);
}

} // namespace nvdebug
