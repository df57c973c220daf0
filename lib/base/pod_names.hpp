// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Names of pods and containers, by the names of the files that kubelet makes for their logs.
///
/// A cgroup has the uid of a pod and the id of a container, and no name. kubelet makes a link for
/// each container, /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log, and a folder for each pod,
/// /var/log/pods/NAMESPACE_POD_UID (legacy.go and helpers.go of pkg/kubelet/kuberuntime). The uid
/// there is the one in the cgroup, also for static pods, where it is the hash of their file. A
/// reader needs no socket, no credentials, and no right but to list the folder: no link is followed
/// and no file is opened.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "nvdebug/expected.hpp"
#include "nvdebug/identity.hpp"

namespace nvdebug::base {

/// The names of a pod, and of one of its containers.
struct PodName {
    std::string name_space, pod;
    std::string container = {}; ///< empty: not known
    bool operator==(const PodName &) const = default;
};

/// The name and the id that one name of a file has.
struct PodFile {
    PodName name;
    /// A container's id (64 hexadecimal digits) or a pod's uid. The id of a container may be cut:
    /// kubelet keeps 255 bytes of the name of a link.
    std::string id;
    bool is_cut = false;
    bool operator==(const PodFile &) const = default;
};

/// Reads the name of a link of a container, or of a folder of a pod. Returns nullopt for any other
/// name, also if its parts break Kubernetes' rules for names (RFC 1123).
[[nodiscard]] std::optional<PodFile> read_pod_file(std::string_view name);

/// Folders with such names, separated by `:`. A folder that is not there has no names.
inline constexpr const char *usual_pod_folders = "/var/log/containers:/var/log/pods";

/// Splits a list of folders at `:`. Fails, with a sentence, if one is not an absolute path.
[[nodiscard]] tl::expected<std::vector<std::string>, std::string>
read_pod_folders(std::string_view list);

/// Reads the names of the pods and containers that are asked for. Not for several threads at once.
class PodNames {
  public:
    /// So many entries of a folder are read; nodes of Kubernetes have a few hundred.
    static constexpr std::size_t most_entries = 1'000'000;

    explicit PodNames(std::vector<std::string> folders);

    /// Looks for the containers' ids and pods' uids. A folder is read if it has changed since, or
    /// if an id is new. A name stays while its id is asked for, also when its file is gone. An id
    /// with two names has none.
    void look(const std::set<std::string> &ids);
    /// Returns the name of the container, or else of the pod, that look() has found.
    [[nodiscard]] std::optional<PodName> find(const Identity &id) const;
    /// Returns how many times a folder was read.
    [[nodiscard]] std::uint64_t reads() const { return reads_; }

  private:
    /// A folder as it was when it was read.
    struct Folder {
        std::string path;
        dev_t device = 0;
        ino_t inode = 0;
        timespec changed = {};
        /// It was read so soon after a change that another one may have the same time.
        bool is_fresh = true;
    };
    using Found = std::map<std::string, std::optional<PodName>>; ///< by id; nullopt: two names

    bool has_changed(Folder &folder) const;
    void read(const Folder &folder, const std::set<std::string> &ids, Found &found);

    std::vector<Folder> folders_;
    std::set<std::string> looked_for_;
    std::map<std::string, PodName> names_; ///< by id
    std::uint64_t reads_ = 0;
};

} // namespace nvdebug::base
