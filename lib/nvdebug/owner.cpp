// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/owner.hpp"
#include "lib/base/cgroup.hpp"
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

struct OwnerRow {
    Process process;
    std::optional<std::uint32_t> client, tsg, channel;
    std::optional<std::uint64_t> timeslice_us;
    Place instance_place;
};

/// Returns the byte that `\\x20` stands for.
std::optional<char> escaped(std::string_view text) {
    constexpr std::size_t length = 4;
    if (text.size() < length || !text.starts_with("\\x"))
        return std::nullopt;
    const auto byte = text::number("0x" + std::string(text.substr(2, 2)));
    return byte ? std::optional(static_cast<char>(*byte)) : std::nullopt;
}

template <auto Member>
void set_word(const Value &value, OwnerRow &row) {
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

void set_timeslice(const Value &value, OwnerRow &row) {
    text::read(value, row.timeslice_us);
    if (row.timeslice_us > std::numeric_limits<std::uint32_t>::max())
        value.fail("a timeslice");
}

constexpr text::Key<OwnerRow> owner_columns[] = {
    key<&OwnerRow::process, &Process::pid>("pid"),
    {"command", set_word<&Process::command>},
    {"cgroup", set_word<&Process::cgroup>},
    key<&OwnerRow::client>("client"),
    key<&OwnerRow::tsg>("tsg"),
    {"timeslice_us", set_timeslice},
    key<&OwnerRow::channel>("channel"),
    key<&OwnerRow::instance_place, &Place::address>("address"),
    key<&OwnerRow::instance_place, &Place::aperture>("aperture"),
};

/// Texts of older versions lack these columns.
constexpr text::Key<OwnerRow> later_columns[] = {
    key<&OwnerRow::process, &Process::uid>("uid"),
    key<&OwnerRow::process, &Process::started>("started"),
    key<&OwnerRow::process, &Process::launcher>("launcher"),
};

void add(const OwnerRow &row, Owners &owners) {
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
        return text::parse_table<OwnerRow>(table, owner_columns, later_columns)
            .map([&](const std::vector<OwnerRow> &rows) {
                for (const OwnerRow &row : rows)
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

Identity identity_of(const Process &process) {
    return base::identity_in(process.cgroup ? std::string_view(*process.cgroup)
                                            : std::string_view());
}

std::optional<std::string> container_of(const Process &process) {
    return identity_of(process).container;
}

std::optional<std::string> pod_of(const Process &process) {
    return identity_of(process).pod;
}

std::optional<std::string> job_of(const Process &process) {
    return identity_of(process).job;
}

} // namespace nvdebug
