// SPDX-License-Identifier: MIT OR GPL-2.0
#include "container.hpp"

#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "client.hpp"
#include "lib/base/cgroup.hpp"
#include "lib/base/container_device.hpp"
#include "lib/base/goal_device.hpp"
#include "lib/base/printable.hpp"

namespace nvqos {
namespace {

namespace base = nvdebug::base;

/// Characters that end a word of a request, or the request itself.
constexpr const char *blanks = " \t\n\r\v\f";

/// Returns the cgroup by which nvqos recognises the processes, as a path in nvqos' cgroup
/// namespace; empty: none.
std::string cgroup_of(const std::string &process) {
    std::ifstream file("/proc/" + process + "/cgroup");
    return base::path_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// Returns a word of a request that selects the container's processes and no others.
Outcome<std::string> own_cgroup_of(std::uint64_t pid) {
    const std::string cgroup = cgroup_of(std::to_string(pid));
    // This process belongs to the runtime, so it is in no container.
    if (cgroup.empty() || base::is_below(cgroup_of("self"), cgroup))
        return fail(refused, "the container has no cgroup of its own, by which its processes would "
                             "be recognised: start it without --cgroups=disabled");
    if (cgroup.starts_with("/..") || cgroup.find_first_of(blanks) != cgroup.npos)
        return fail(refused,
                    fmt::format("the container's cgroup {} is outside of this hook's, or has a "
                                "blank in its path: start it below another --cgroup-parent",
                                base::printable(cgroup)));
    return cgroup;
}

/// Returns the goal as --cdi takes it.
std::string text_of_goal(const ContainerGoal &goal) {
    return goal.goal + (goal.gang == Gang::on ? "" : ",gang=" + text_of(goal.gang));
}

} // namespace

Outcome<std::string> write_goal_device(const ContainerGoal &goal, const std::string &folder) {
    const auto program = base::own_path_for_hooks();
    if (!program)
        return fail(refused, program.error());
    const base::GoalDevice device{.goal = text_of_goal(goal),
                                  .gpus = goal.gpus,
                                  .socket = goal.socket,
                                  .program = *program,
                                  .tenant = goal.tenant};
    if (!base::is_device_name(device.name()))
        return fail(bad_usage, fmt::format("'{}' cannot be the name of a device: it has 63 "
                                           "characters at most, and ends with a letter or digit",
                                           base::printable(device.name())));
    const auto written = base::write_device(device.device(), folder);
    if (!written)
        return fail(refused, written.error());
    return device.device().whole_name();
}

Outcome<void> hold_container(const ContainerGoal &goal) {
    const auto state = base::read_container_state();
    if (!state)
        return fail(bad_usage, state.error());
    const std::string id = base::text_at(*state, "/id");
    const nlohmann::json::json_pointer pid_place("/pid");
    const std::uint64_t pid =
        state->contains(pid_place) && state->at(pid_place).is_number_unsigned()
            ? state->at(pid_place).get<std::uint64_t>()
            : 0;
    // A state with pid 1 has the number within the container, which means another process here.
    if (id.empty() || id.find_first_of(blanks) != id.npos || pid < 2)
        return fail(bad_usage, "stdin has no state of a container with an id and the host's number "
                               "of its process; container runtimes call --hold-container as a "
                               "createRuntime hook");
    const auto cgroup = own_cgroup_of(pid);
    if (!cgroup)
        return tl::unexpected(cgroup.error());
    std::string line = goal.tenant.empty()
                           ? fmt::format("hold container:{} {}", id, goal.goal)
                           : fmt::format("join {}{} {}", goal.tenant,
                                         goal.tenant.ends_with(':') ? id : "", goal.goal);
    for (const std::string &gpu : goal.gpus)
        line += fmt::format(" gpu={}", gpu);
    // The process is named besides the cgroup, because an nvqos in another cgroup namespace has
    // other paths.
    line += fmt::format(" pid={} holder={} cgroup={}", pid, pid, *cgroup);
    if (goal.gang != Gang::on)
        line += " gang=" + text_of(goal.gang);
    const auto held = ask(goal.socket, line);
    if (!held)
        return fail(held.error().exit,
                    fmt::format("the container does not start: its goal {} is not kept: {}",
                                text_of_goal(goal), held.error().sentence));
    return {};
}

} // namespace nvqos
