// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cgroup.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "text.hpp"

namespace nvdebug::base {
namespace {

using Names = std::vector<std::string_view>;

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// The 64 digits that all runtimes give a container.
std::optional<std::string> whole_id(std::string_view text) {
    constexpr std::size_t digits = 64;
    return text.size() == digits && is_hex(text) ? std::optional(std::string(text)) : std::nullopt;
}

/// `docker-ID.scope`, `libpod-ID`, and `SLICE:docker:ID` where containerd or runc write systemd's
/// form as one name.
std::optional<std::string> id_by_prefix(std::string_view name) {
    constexpr std::string_view runtimes[] = {"docker", "libpod", "crio", "cri-containerd",
                                             "nerdctl"};
    constexpr std::string_view scope = ".scope";
    const std::size_t colon = name.rfind(':');
    const bool is_triple = colon != name.npos;
    if (!is_triple && name.ends_with(scope))
        name.remove_suffix(scope.size());
    const std::size_t before = is_triple ? colon : name.rfind('-');
    if (before == name.npos)
        return std::nullopt;
    std::string_view runtime = name.substr(0, before);
    if (is_triple) {
        const std::size_t slice = runtime.find(':');
        if (slice == runtime.npos || !runtime.substr(0, slice).ends_with(".slice"))
            return std::nullopt;
        runtime.remove_prefix(slice + 1);
    }
    return std::ranges::find(runtimes, runtime) == std::end(runtimes)
               ? std::nullopt
               : whole_id(name.substr(before + 1));
}

/// `pod0f5a1c2e-…`, `kubepods-burstable-pod0f5a1c2e_….slice`.
std::optional<std::string> pod_in(std::string_view name) {
    constexpr std::size_t length = 36;
    constexpr std::string_view end = ".slice", prefix = "pod";
    name = name.substr(0, name.find(':'));
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

/// Below which kubelet has the pods; a root of its own (`--cgroup-root`) stands before the name.
bool is_pods(std::string_view name) {
    name = name.substr(0, name.find(':'));
    return name == "kubepods" || name == "kubepods.slice" || name.starts_with("kubepods-") ||
           name.ends_with("-kubepods.slice");
}

/// Units below which only runtimes make cgroups of containers.
bool is_runtime(std::string_view unit) {
    constexpr std::string_view runtimes[] = {"containerd.service", "crio.service",
                                             "docker.service",     "k3s.service",
                                             "kubelet.service",    "rke2.service"};
    return std::ranges::find(runtimes, unit) != std::end(runtimes);
}

/// Returns whether users may make cgroups of any name below one of this name: systemd's sessions
/// and units, and containers of LXC, in which root chooses them.
bool is_delegated(std::string_view name) {
    return name == "user.slice" || name.starts_with("user-") || name.starts_with("user@") ||
           name == "lxc" || name.starts_with("lxc.") || name.ends_with(".scope") ||
           (name.ends_with(".service") && !is_runtime(name));
}

/// A name `PREFIX_…` without its prefix.
std::optional<std::string_view> behind(const Names &names, std::size_t at,
                                       std::string_view prefix) {
    return at < names.size() && names[at].starts_with(prefix)
               ? std::optional(names[at].substr(prefix.size()))
               : std::nullopt;
}

/// @param is_relative names begin below an unknown cgroup
Identity slurm_of(const Names &names, bool is_relative) {
    constexpr std::string_view scope = "slurmstepd.scope";
    const auto is_scope = [&](std::size_t at) {
        return at < names.size() &&
               (names[at] == scope || names[at].ends_with("_slurmstepd.scope"));
    };
    std::size_t at = 0;
    if (!names.empty() && names[0] == "system.slice" && is_scope(1)) {
        at = 2;
    } else if (is_relative && is_scope(0)) {
        at = 1;
    } else if (!names.empty() && (names[0] == "slurm" || names[0].starts_with("slurm_")) &&
               is_number(behind(names, 1, "uid_").value_or(""))) {
        at = 2;
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

/// Considers names from the root on, down to a cgroup below which users choose names.
Identity runtime_of(const Names &names, bool is_relative) {
    Identity found;
    bool in_pods = false, in_docker = false;
    for (std::size_t n = 0; n < names.size(); n++) {
        const std::string_view name = names[n];
        const bool is_first = n == 0;
        // A reader in a pod has no `kubepods` in paths of other pods.
        in_pods = in_pods || is_pods(name) ||
                  (is_relative && is_first &&
                   (name == "burstable" || name == "besteffort" || pod_in(name)));
        if (in_pods && !found.pod)
            found.pod = pod_in(name);
        found.container = id_by_prefix(name);
        if (!found.container && (in_pods || in_docker || (is_relative && is_first)))
            found.container = whole_id(name);
        if (found.container || is_delegated(name))
            break;
        in_docker = in_docker || name == "docker";
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
    Identity found = slurm_of(names, is_relative);
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
