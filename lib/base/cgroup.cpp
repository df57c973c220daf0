// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cgroup.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "text.hpp"
#include "uuid_form.hpp"

namespace nvdebug::base {
namespace {

using Names = std::vector<std::string_view>;

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Returns the name if it is the id of a container, for which all runtimes use 64 digits.
std::optional<std::string> whole_id(std::string_view text) {
    constexpr std::size_t digits = 64;
    return text.size() == digits && is_hex(text) ? std::optional(std::string(text)) : std::nullopt;
}

/// Returns the id in `SLICE.slice:RUNTIME:ID`. containerd and runc use this systemd form also as a
/// single name of a cgroup.
std::optional<std::string> id_in_triple(std::string_view name) {
    const std::size_t last = name.rfind(':');
    const std::size_t first =
        last == name.npos || last == 0 ? name.npos : name.rfind(':', last - 1);
    if (first == name.npos || !name.substr(0, first).ends_with(".slice") || last == first + 1)
        return std::nullopt;
    return whole_id(name.substr(last + 1));
}

/// Returns the id in `docker-ID.scope` or `libpod-ID`. Other prefixes belong to processes that are
/// in no container: `libpod-conmon-ID.scope`.
std::optional<std::string> id_by_prefix(std::string_view name) {
    constexpr std::string_view runtimes[] = {"docker",  "libpod", "libpod-payload", "crio",
                                             "nerdctl", "runc",   "cri-containerd", "crun"};
    constexpr std::string_view scope = ".scope";
    if (name.ends_with(scope))
        name.remove_suffix(scope.size());
    const std::size_t dash = name.rfind('-');
    return dash == name.npos ||
                   std::ranges::find(runtimes, name.substr(0, dash)) == std::end(runtimes)
               ? std::nullopt
               : whole_id(name.substr(dash + 1));
}

/// Returns the uid in `pod0f5a1c2e-…` or `kubepods-burstable-pod0f5a1c2e_….slice`. The uid of a pod
/// from a file ("static") has 32 digits and no dashes.
std::optional<std::string> pod_in(std::string_view name) {
    constexpr std::size_t digits_of_static = 32;
    constexpr std::string_view end = ".slice", prefix = "pod";
    name = name.substr(0, name.find(':'));
    if (name.ends_with(end))
        name.remove_suffix(end.size());
    for (const std::size_t length : {uuid_length, digits_of_static}) {
        if (name.size() < prefix.size() + length)
            continue;
        const std::string_view before = name.substr(0, name.size() - length);
        std::string uid(name.substr(before.size()));
        std::ranges::replace(uid, '_', '-'); // systemd writes `_` for `-` in names of slices
        if ((before == prefix || before.ends_with("-pod")) &&
            (length == uuid_length ? is_uuid_begin(uid) : is_hex(uid)))
            return uid;
    }
    return std::nullopt;
}

/// Returns whether kubelet has its pods below a cgroup of this name. With `--cgroup-root`, the name
/// of that root stands before it.
bool is_pods(std::string_view name) {
    name = name.substr(0, name.find(':'));
    return name == "kubepods" || name == "kubepods.slice" || name.starts_with("kubepods-") ||
           name.ends_with("-kubepods.slice");
}

/// Returns whether only runtimes make cgroups below this unit, which are then containers.
bool is_runtime(std::string_view unit) {
    constexpr std::string_view runtimes[] = {"containerd.service", "crio.service",
                                             "docker.service",     "k3s.service",
                                             "kubelet.service",    "rke2.service"};
    return std::ranges::find(runtimes, unit) != std::end(runtimes);
}

/// Returns whether a runtime gives this name to a container directly below the unit that starts it:
/// the triple, or `libpod-payload-ID` (podman's `--cgroups=split`, which Quadlet uses).
bool is_units_container(std::string_view name) {
    constexpr std::string_view payload = "libpod-payload-";
    return id_in_triple(name) ||
           (name.starts_with(payload) && whole_id(name.substr(payload.size())));
}

/// Returns whether users may make cgroups of any name below a cgroup of this name: below systemd's
/// sessions and units, and in containers of LXC, where root chooses the names.
bool is_delegated(std::string_view name) {
    return name == "user.slice" || name.starts_with("user-") || name.starts_with("user@") ||
           name == "lxc" || name == ".." || name.starts_with("lxc.") || name.ends_with(".scope") ||
           (name.ends_with(".service") && !is_runtime(name));
}

/// Returns the name at @p at without its prefix, if the name begins with @p prefix.
std::optional<std::string_view> behind(const Names &names, std::size_t at,
                                       std::string_view prefix) {
    return at < names.size() && names[at].starts_with(prefix)
               ? std::optional(names[at].substr(prefix.size()))
               : std::nullopt;
}

/// Returns the job and the step by the names that slurmd makes, from name @p at on.
/// @param is_relative names begin below an unknown cgroup
Identity slurm_at(const Names &names, std::size_t at, bool is_relative) {
    constexpr std::string_view scope = "slurmstepd.scope";
    const auto is_scope = [&](std::size_t n) {
        return n < names.size() && (names[n] == scope || names[n].ends_with("_slurmstepd.scope"));
    };
    if (at >= names.size())
        return {};
    if (names[at] == "system.slice" && is_scope(at + 1)) {
        at += 2;
    } else if (is_relative && is_scope(at)) {
        at++;
    } else if ((names[at] == "slurm" || names[at].starts_with("slurm_")) &&
               is_number(behind(names, at + 1, "uid_").value_or(""))) {
        at += 2;
    } else {
        return {};
    }
    const auto job = behind(names, at, "job_"), step = behind(names, at + 1, "step_");
    if (!job || !is_number(*job))
        return {};
    Identity found;
    found.job = *job;
    if (step && is_step(*step))
        found.step = *step;
    return found;
}

/// Finds container, pod, job and step. Reads names from the root on, and stops at a cgroup below
/// which users choose names.
Identity runtime_of(const Names &names, bool is_relative) {
    Identity found;
    bool in_pods = false, in_docker = false, in_slices = true;
    std::size_t below = names.size(); // the first name below the container, else below the pod
    for (std::size_t n = 0; n < names.size(); n++) {
        const std::string_view name = names[n];
        const bool is_first = n == 0;
        // In a pod's namespace, relative paths of other pods lack `kubepods`.
        in_pods = in_pods || is_pods(name) ||
                  (is_relative && is_first &&
                   (name == "burstable" || name == "besteffort" || pod_in(name)));
        if (in_pods && !found.pod && (found.pod = pod_in(name)))
            below = n + 1;
        found.container = id_in_triple(name);
        if (!found.container)
            found.container = id_by_prefix(name);
        // Above a relative path, any user may have made the cgroups, so a bare id counts only at
        // its beginning.
        if (!found.container && (!is_relative || is_first || in_pods || in_docker))
            found.container = whole_id(name);
        if (found.container) {
            below = n + 1;
            break;
        }
        // Only root makes units in the slices of the system, so a unit there may have any name.
        const bool starts_container = in_slices && !is_first && name.ends_with(".service") &&
                                      n + 1 < names.size() && is_units_container(names[n + 1]);
        if (is_delegated(name) && !starts_container)
            break;
        in_docker = in_docker || name == "docker";
        in_slices = in_slices && name.ends_with(".slice");
    }
    // slurmd may be in a container, or in a pod.
    for (; below < names.size(); below++) {
        const Identity slurm = slurm_at(names, below, false);
        found.job = slurm.job;
        found.step = slurm.step;
        if (found.job || is_delegated(names[below]))
            break;
    }
    return found;
}

} // namespace

bool is_step(std::string_view text) {
    constexpr std::string_view own[] = {"batch", "extern", "interactive"};
    const std::size_t plus = text.find('+');
    return std::ranges::find(own, text) != std::end(own) ||
           (is_number(text.substr(0, plus)) &&
            (plus == text.npos || is_number(text.substr(plus + 1))));
}

Identity identity_in(std::string_view path) {
    Names names;
    bool is_relative = false;
    while (!path.empty()) {
        const std::string_view name = text::take_until(path, '/');
        if (name == ".." && names.empty())
            is_relative = true;
        else if (!name.empty())
            names.push_back(name);
    }
    Identity found = slurm_at(names, 0, is_relative);
    return found.job ? found : runtime_of(names, is_relative);
}

std::string path_in(std::string_view text) {
    std::string_view best;
    std::size_t most = 0;
    while (!text.empty()) {
        std::string_view line = text::take_until(text, '\n');
        text::take_until(line, ':'); // number
        text::take_until(line, ':'); // controllers
        const Identity ids = identity_in(line);
        const auto count = static_cast<std::size_t>(ids.container.has_value()) +
                           static_cast<std::size_t>(ids.pod.has_value()) +
                           static_cast<std::size_t>(ids.job.has_value()) +
                           static_cast<std::size_t>(ids.step.has_value());
        if (std::tuple(count, line.size()) > std::tuple(most, best.size())) {
            most = count;
            best = line;
        }
    }
    return std::string(best);
}

bool is_below(std::string_view cgroup, std::string_view path) {
    return cgroup.starts_with(path) &&
           (cgroup.size() == path.size() || path.ends_with('/') || cgroup[path.size()] == '/');
}

} // namespace nvdebug::base
