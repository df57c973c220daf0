// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Why goals cannot be kept together, or are kept only as far as others leave it: sentences.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "goals.hpp"
#include "lib/qos/dependence.hpp"
#include "lib/qos/gangs.hpp"

namespace nvqos {

/// Returns a sentence with the numbers, the tenants, and what to ask for instead.
std::string refusal_of(const qos::Conflict &conflict, const Goals &goals);
/// Returns a sentence for each goal that cannot be kept beside the others.
/// @param entrants as Governor::entrants(), of the same goals; tenants without a task are promised
/// their part as well
std::vector<std::string> refusals_of(const Goals &goals, std::vector<qos::Entrant> entrants);
/// Returns the sentences for a GPU on which each tenant has one task and there are no other tasks.
std::vector<std::string> refusals_of(const Goals &goals);

/// Returns a tenant with all of its GPUs, or if it is no gang a tenant for each of its GPUs.
std::vector<qos::GangTenant> gang_tenants(const std::string &name, const qos::Goal &goal,
                                          bool is_gang, const std::vector<std::uint32_t> &gpus);
/// Returns why promises cannot be kept together across GPUs, although those of each GPU can: tenants
/// of which each two share a GPU never have their windows at the same time, so that their parts add
/// up (qos::heaviest_clash()). Empty: they can be kept, or they are promises of one GPU alone, which
/// are the matter of refusals_of().
/// @param tenants of gang_tenants()
std::optional<std::string> refusal_of_clash(std::span<const qos::GangTenant> tenants);

/// Returns a sentence for each way in which goals depend on what other tenants leave: who can break
/// them, and what would make them safe. Each tenant counts with one task.
std::vector<std::string> conditions_of(const Goals &goals);

/// Returns a warning that a tenant has no process yet, with the likely reason.
std::string sentence_on_nobody(const Tenant &tenant);

} // namespace nvqos
