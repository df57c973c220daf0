// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_restore.hpp"

#include "driver_plan.hpp"
#include "lib/driver/keeper.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <unistd.h>
#include <utility>

namespace nvdebug::driver {
namespace {

using ProcessKey = std::pair<std::uint32_t, std::uint64_t>; // pid and start

ProcessKey process_of(const Property &property) {
    return {property.pid, property.started};
}

/// An entry of a keeper that has ended, with the values to restore. Processes that have ended are
/// left out, and so are properties that another keeper restores.
struct Left {
    const FoundEntry *entry;
    Originals originals; ///< empty: nothing is left, so the file can be removed
};

std::vector<Left> left_in(Kernel &kernel, const Journal &journal, const Card &card) {
    Originals kept;
    for (const FoundEntry &entry : journal.entries)
        if (entry.gpu == card.pci_address && entry.is_kept())
            kept.insert(entry.originals.begin(), entry.originals.end());
    std::map<ProcessKey, bool> lives;
    std::vector<Left> all;
    for (const FoundEntry &entry : journal.entries) {
        // A keeper that ended after the journal was read has removed its file.
        if (entry.gpu != card.pci_address || entry.is_kept() || ::access(entry.path.c_str(), F_OK))
            continue;
        Left &left = all.emplace_back(Left{&entry, entry.originals});
        std::erase_if(left.originals, [&](const auto &original) {
            const auto [known, fresh] = lives.try_emplace(process_of(original.first));
            if (fresh)
                known->second = start_of(kernel, original.first.pid) == original.first.started;
            return !known->second || kept.contains(original.first);
        });
    }
    return all;
}

/// Counts the channels and TSGs of the properties, by process.
std::map<ProcessKey, LeftOver> by_process(Kernel &kernel, const Originals &originals) {
    std::map<ProcessKey, LeftOver> tasks;
    std::set<std::tuple<ProcessKey, std::uint32_t, std::uint32_t>> tsgs;
    for (const auto &[property, value] : originals) {
        const auto [at, fresh] = tasks.try_emplace(process_of(property));
        LeftOver &task = at->second;
        if (fresh) {
            task.pid = property.pid;
            task.command = command_of(kernel, property.pid);
        }
        if (property.kind == Property::Kind::channel)
            task.channels++;
        else if (tsgs.emplace(at->first, property.client, property.object).second)
            task.tsgs++;
    }
    return tasks;
}

/// Returns the calls that restore properties of objects that the processes still have.
std::vector<Call> calls_for(const DriverTasks &tasks, const Originals &originals) {
    std::vector<Call> calls;
    OwnedChannels enable, disable;
    std::set<Property> planned;
    for (const OwnedChannel &owned : tasks.owners().channels) {
        const ClientChannel &channel = tasks.client_channel(owned);
        const auto value_of = [&](Property::Kind kind) -> std::optional<std::uint64_t> {
            const Property property = property_of(tasks, owned, kind);
            const auto found = originals.find(property);
            // Each channel of a TSG leads to the same property.
            return found != originals.end() && planned.insert(property).second
                       ? std::optional(found->second)
                       : std::nullopt;
        };
        if (const auto enabled = value_of(Property::Kind::channel))
            (*enabled ? enable : disable).push_back(&owned);
        if (const auto us = value_of(Property::Kind::timeslice))
            calls.push_back(call_of(channel, channel.tsg, rm::SetTimeslice{*us}));
        if (const auto level = value_of(Property::Kind::interleave))
            calls.push_back(call_of(channel, channel.tsg,
                                    rm::SetInterleave{static_cast<std::uint32_t>(*level)}));
        if (const auto compute = value_of(Property::Kind::mode)) {
            rm::SetPreemptionMode mode{};
            mode.flags = rm::SetPreemptionMode::set_compute;
            mode.channel = channel.tsg;
            mode.compute = static_cast<std::uint32_t>(*compute);
            calls.push_back(call_of(channel, channel.subdevice, mode));
        }
    }
    add_disable(calls, tasks, enable, false);
    add_disable(calls, tasks, disable, true);
    return calls;
}

/// Returns whether a process may have objects that the search did not find.
bool is_hidden(const Owned &owned, std::uint32_t pid) {
    const auto process = std::ranges::find(owned.processes, pid, &Process::pid);
    return owned.trouble || std::ranges::count(owned.hidden, pid) ||
           std::ranges::count(owned.cut, pid) ||
           (process != owned.processes.end() && process->denied);
}

bool names_one_of(const Originals &originals, const std::vector<std::uint32_t> &pids) {
    return pids.empty() || std::ranges::any_of(originals, [&](const auto &original) {
               return std::ranges::count(pids, original.first.pid) > 0;
           });
}

/// Restores the entries about the processes, and removes their files.
LeftOvers put_back(const std::shared_ptr<Kernel> &kernel, const DriverTasks &tasks,
                   const std::vector<Left> &all, const Card &card,
                   const std::vector<std::uint32_t> &pids) {
    LeftOvers restored;
    std::map<ProcessKey, LeftOver> by_key;
    for (const Left &left : all) {
        if (!names_one_of(left.originals, pids))
            continue;
        const Undone undone = undo_calls(kernel, card.pci_address, tasks.owned().processes,
                                         calls_for(tasks, left.originals));
        bool is_hidden_any = false;
        for (auto &[key, task] : by_process(*kernel, left.originals)) {
            const bool hidden = is_hidden(tasks.owned(), task.pid);
            is_hidden_any = is_hidden_any || hidden;
            LeftOver &one = by_key.try_emplace(key, task).first->second;
            one.channels = std::max(one.channels, task.channels);
            one.tsgs = std::max(one.tsgs, task.tsgs);
            one.restored = undone.all && !hidden;
            if (hidden)
                restored.troubles.push_back(
                    "process " + std::to_string(task.pid) +
                    " may have channels that this program could not find, so that it may still be "
                    "changed: run it as root, outside of containers");
        }
        if (!undone.all)
            restored.troubles.push_back(undone.left);
        if ((undone.all || undone.is_kept) && !is_hidden_any)
            ::unlink(left.entry->path.c_str());
    }
    for (auto &[key, task] : by_key)
        restored.tasks.push_back(std::move(task));
    return restored;
}

/// Removes the files of entries without anything left to restore.
void remove_empty(std::vector<Left> &all) {
    std::erase_if(all, [](const Left &left) {
        if (left.originals.empty())
            ::unlink(left.entry->path.c_str());
        return left.originals.empty();
    });
}

} // namespace

Result<LeftOvers> left_overs(Kernel &kernel, const Card &card) {
    auto journal = read_journal();
    if (!journal)
        return tl::unexpected(journal.error());
    Originals originals;
    for (const Left &left : left_in(kernel, *journal, card))
        originals.insert(left.originals.begin(), left.originals.end());
    LeftOvers found{{}, std::move(journal->troubles)};
    for (auto &[key, task] : by_process(kernel, originals))
        found.tasks.push_back(std::move(task));
    return found;
}

Result<LeftOvers> restore(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                          const Card &card, const std::vector<std::uint32_t> &pids) {
    auto journal = read_journal();
    if (!journal)
        return tl::unexpected(journal.error());
    std::vector<Left> all = left_in(*kernel, *journal, card);
    remove_empty(all);
    LeftOvers restored;
    if (std::ranges::any_of(all,
                            [&](const Left &left) { return names_one_of(left.originals, pids); })) {
        // All names of clients are searched, because a plain search may have skipped an old client.
        auto owned = ownership.find(card, true);
        if (!owned)
            return tl::unexpected(owned.error());
        restored = put_back(kernel, DriverTasks(std::move(*owned), {}), all, card, pids);
    }
    restored.troubles.insert(restored.troubles.end(), journal->troubles.begin(),
                             journal->troubles.end());
    return restored;
}

Result<DriverTasks> find_restored(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                  const Card &card, const TaskRequest &request,
                                  const ReadLists &read_lists) {
    auto tasks = find_tasks(ownership, card, request, read_lists);
    const auto journal = read_journal();
    if (!tasks || !journal)
        return tasks;
    std::vector<Left> all = left_in(*kernel, *journal, card);
    remove_empty(all);
    if (all.empty())
        return tasks;
    const auto channels = find_channels(*kernel, *tasks, request);
    std::vector<std::uint32_t> pids = request.pids;
    if (channels)
        for (const OwnedChannel *const channel : *channels)
            pids.push_back(channel->pid);
    if (pids.empty() || put_back(kernel, *tasks, all, card, pids).tasks.empty())
        return tasks;
    // The restored tasks have other timeslices and lists now.
    return find_tasks(ownership, card, request, read_lists);
}

WrittenDown written_down(const Card &card) {
    WrittenDown written;
    const auto journal = read_journal();
    if (!journal)
        return written;
    for (const FoundEntry &entry : journal->entries) {
        if (entry.gpu != card.pci_address)
            continue;
        written.originals.insert(entry.originals.begin(), entry.originals.end());
        if (entry.is_undoing && entry.is_kept())
            for (const auto &[property, value] : entry.originals)
                written.undoing.emplace(process_of(property), entry.keeper.pid);
    }
    return written;
}

Result<void> check_undone(const WrittenDown &written, const DriverTasks &tasks,
                          const OwnedChannels &channels) {
    for (const OwnedChannel *const channel : channels) {
        const Process &process = tasks.process(*channel);
        const auto found = written.undoing.find({process.pid, process.started});
        if (found != written.undoing.end())
            return tl::unexpected(Error{
                ErrorCode::busy, EBUSY, "",
                name_of(process) + " is still changed by a program that has ended, as NVIDIA's " +
                    "driver refuses to undo it: nvdebug-keeper, process " +
                    std::to_string(found->second) +
                    ", tries that again; nothing more is changed until then"});
    }
    return {};
}

} // namespace nvdebug::driver
