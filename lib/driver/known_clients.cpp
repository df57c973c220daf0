// SPDX-License-Identifier: MIT OR GPL-2.0
#include "known_clients.hpp"

#include <iterator>
#include <vector>

namespace nvdebug::driver {

void KnownClients::begin_look(const std::set<Descriptor> &seen, std::set<Descriptor> with_gpu) {
    with_gpu_ = std::move(with_gpu);
    std::vector<Descriptor> gone;
    for (const auto &[at, clients] : owned_)
        if (!seen.contains(at))
            gone.push_back(at);
    for (const Descriptor &at : gone)
        disown_all(at);
    std::erase_if(asked_, [&](const auto &one) { return !seen.contains(one.first.second); });
}

const Descriptor *KnownClients::owner_of(std::uint32_t client) const {
    const auto owner = owners_.find(client);
    return owner == owners_.end() ? nullptr : &owner->second;
}

bool KnownClients::is_checked(std::uint32_t client) const {
    const Descriptor *const owner = owner_of(client);
    return owner && has_gpu(*owner);
}

const std::set<std::uint32_t> *KnownClients::clients_of(const Descriptor &at) const {
    const auto of = owned_.find(at);
    return of == owned_.end() ? nullptr : &of->second;
}

void KnownClients::own(std::uint32_t client, const Descriptor &at) {
    if (has_gpu(at) || owned_.contains(at))
        remove_unowned(client);
    if (const Descriptor *const owner = owner_of(client)) {
        const Descriptor before = *owner;
        take_from_owner(client);
        if (!has_gpu(before) && before != at)
            disown_all(before); // its other clients are of this file, too
    }
    owners_[client] = at;
    owned_[at].insert(client);
}

void KnownClients::take_from_owner(std::uint32_t client) {
    const auto owner = owners_.find(client);
    if (owner == owners_.end())
        return;
    const auto of = owned_.find(owner->second);
    of->second.erase(client);
    if (of->second.empty())
        owned_.erase(of);
    else if (is_unowned(client) && !has_gpu(of->first))
        add_unowned(*of->second.begin()); // another client of the descriptor becomes ownerless
                                          // instead
    owners_.erase(owner);
}

void KnownClients::disown(std::uint32_t client) {
    take_from_owner(client);
    add_unowned(client);
}

void KnownClients::disown_all(const Descriptor &at) {
    const auto of = owned_.find(at);
    if (of == owned_.end())
        return;
    for (const std::uint32_t client : of->second) {
        owners_.erase(client);
        add_unowned(client);
    }
    owned_.erase(of);
}

void KnownClients::remove(std::uint32_t client) {
    take_from_owner(client);
    remove_unowned(client);
}

void KnownClients::add_unowned(std::uint32_t client) {
    remove_unowned(client);
    unowned_[++found_] = client;
    numbers_[client] = found_;
    // Bounded, since any user can make clients. The oldest ones are the least useful.
    constexpr std::size_t unowned_most = 0x10000;
    if (unowned_.size() > unowned_most)
        remove_unowned(unowned_.begin()->second);
}

void KnownClients::remove_unowned(std::uint32_t client) {
    const auto at = numbers_.find(client);
    if (at == numbers_.end())
        return;
    unowned_.erase(at->second);
    numbers_.erase(at);
}

std::optional<std::uint64_t> KnownClients::next_unowned(const Asked &asked) const {
    const auto newer = unowned_.upper_bound(asked.newest);
    if (newer != unowned_.end())
        return newer->first;
    const auto older = unowned_.lower_bound(asked.oldest);
    return older == unowned_.begin() ? std::nullopt : std::optional(std::prev(older)->first);
}

const KnownClients::Asked *KnownClients::find_asked(const Descriptor &at) const {
    const auto found = asked_.find({has_gpu(at), at});
    return found == asked_.end() ? nullptr : &found->second;
}

KnownClients::Asked &KnownClients::asked(const Descriptor &at) {
    return asked_.try_emplace({has_gpu(at), at}, Asked{found_ + 1, found_}).first->second;
}

} // namespace nvdebug::driver
