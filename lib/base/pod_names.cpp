// SPDX-License-Identifier: MIT OR GPL-2.0
#include "pod_names.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "uuid_form.hpp"
#include "words.hpp"

namespace nvdebug::base {
namespace {

constexpr std::size_t container_digits = 64, static_pod_digits = 32;
/// kubelet cuts the name of a link to so many bytes, with the suffix (ext4MaxFileNameLen).
constexpr std::size_t longest_link = 255;
/// Fewer digits of an id that was cut are not compared.
constexpr std::size_t fewest_digits = 12;
constexpr std::string_view log_suffix = ".log";

/// Returns whether @p text has letters in lower case, digits and dashes, with no dash at an end.
bool is_word(std::string_view text) {
    const auto is_edge = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return !text.empty() && is_edge(text.front()) && is_edge(text.back()) &&
           std::ranges::all_of(text, [&](char c) { return is_edge(c) || c == '-'; });
}

/// Returns whether @p text is a label by RFC 1123, as names of namespaces and containers are.
bool is_label(std::string_view text) {
    constexpr std::size_t longest = 63;
    return text.size() <= longest && is_word(text);
}

/// Returns whether @p text is the name of a pod: words with dots between them. Kubernetes limits
/// the length of the name, and not of its words.
bool is_pod_name(std::string_view text) {
    constexpr std::size_t longest = 253;
    if (text.size() > longest)
        return false;
    for (std::size_t dot; (dot = text.find('.')) != text.npos; text.remove_prefix(dot + 1))
        if (!is_word(text.substr(0, dot)))
            return false;
    return is_word(text);
}

bool is_pod_uid(std::string_view text) {
    return (text.size() == uuid_length && is_uuid_begin(text)) ||
           (text.size() == static_pod_digits && is_hex(text));
}

/// Splits a name at its two underscores. No name of Kubernetes has any.
std::optional<std::array<std::string_view, 3>> three_parts(std::string_view name) {
    const std::size_t first = name.find('_');
    const std::size_t second = first == name.npos ? name.npos : name.find('_', first + 1);
    if (second == name.npos || name.find('_', second + 1) != name.npos)
        return std::nullopt;
    return {{name.substr(0, first), name.substr(first + 1, second - first - 1),
             name.substr(second + 1)}};
}

std::optional<PodFile> read_link_name(std::string_view name) {
    const bool may_be_cut = name.size() == longest_link;
    const auto parts = three_parts(name.substr(0, name.size() - log_suffix.size()));
    if (!parts)
        return std::nullopt;
    const auto &[pod, name_space, rest] = *parts;
    const std::size_t dash = rest.rfind('-');
    if (dash == rest.npos)
        return std::nullopt;
    const std::string_view container = rest.substr(0, dash), id = rest.substr(dash + 1);
    const bool is_whole = id.size() == container_digits;
    if (!is_hex(id) ||
        !(is_whole || (may_be_cut && id.size() >= fewest_digits && id.size() < container_digits)))
        return std::nullopt;
    if (!is_pod_name(pod) || !is_label(name_space) || !is_label(container))
        return std::nullopt;
    return PodFile{{std::string(name_space), std::string(pod), std::string(container)},
                   std::string(id),
                   !is_whole};
}

/// Returns the ids of @p ids that the file means.
std::vector<std::string> ids_of(const PodFile &file, const std::set<std::string> &ids) {
    std::vector<std::string> all;
    for (auto at = ids.lower_bound(file.id);
         at != ids.end() && (file.is_cut ? at->starts_with(file.id) : *at == file.id); ++at)
        if (!file.is_cut || at->size() == container_digits)
            all.push_back(*at);
    return all;
}

struct CloseFolder {
    void operator()(DIR *folder) const { ::closedir(folder); }
};

} // namespace

std::optional<PodFile> read_pod_file(std::string_view name) {
    if (name.ends_with(log_suffix))
        return read_link_name(name);
    const auto parts = three_parts(name);
    if (!parts)
        return std::nullopt;
    const auto &[name_space, pod, uid] = *parts;
    if (!is_label(name_space) || !is_pod_name(pod) || !is_pod_uid(uid))
        return std::nullopt;
    return PodFile{{std::string(name_space), std::string(pod)}, std::string(uid)};
}

tl::expected<std::vector<std::string>, std::string> read_pod_folders(std::string_view list) {
    std::vector<std::string> folders;
    for (bool is_last = false; !is_last;) {
        const std::size_t colon = list.find(':');
        const std::string_view folder = list.substr(0, colon);
        is_last = colon == list.npos;
        if (!folder.starts_with('/') || folder.find('\0') != folder.npos)
            return tl::unexpected(quote(folder) +
                                  " is no folder with names of pods: write its path from / on, as "
                                  "/var/log/pods, and : between two");
        folders.emplace_back(folder);
        if (!is_last)
            list.remove_prefix(colon + 1);
    }
    return folders;
}

PodNames::PodNames(std::vector<std::string> folders) {
    for (std::string &path : folders)
        folders_.push_back({.path = std::move(path)});
}

/// Returns whether the folder is to be read, and takes its time.
bool PodNames::has_changed(Folder &folder) const {
    struct stat now {};
    if (::stat(folder.path.c_str(), &now)) {
        folder.inode = 0;
        return false;
    }
    const bool same = folder.inode == now.st_ino && folder.device == now.st_dev &&
                      folder.changed.tv_sec == now.st_mtim.tv_sec &&
                      folder.changed.tv_nsec == now.st_mtim.tv_nsec;
    const bool was_fresh = std::exchange(folder.is_fresh, false);
    folder.device = now.st_dev;
    folder.inode = now.st_ino;
    folder.changed = now.st_mtim;
    // Times of files come from a clock with coarse steps. A change within the step of an earlier one
    // leaves the time as it was.
    timespec clock{};
    ::clock_gettime(CLOCK_REALTIME, &clock);
    folder.is_fresh = now.st_mtim.tv_sec + 1 >= clock.tv_sec;
    return !same || was_fresh;
}

void PodNames::read(const Folder &folder, const std::set<std::string> &ids, Found &found) {
    // The descriptor is of a folder, and nothing else can be opened by this: no pipe, no device.
    const int opened = ::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0)
        return;
    const std::unique_ptr<DIR, CloseFolder> entries(::fdopendir(opened));
    if (!entries) {
        ::close(opened);
        return;
    }
    reads_++;
    for (std::size_t n = 0; n < most_entries; n++) {
        const dirent *const entry = ::readdir(entries.get());
        if (!entry)
            break;
        const auto file = read_pod_file(entry->d_name);
        if (!file)
            continue;
        for (const std::string &id : ids_of(*file, ids)) {
            const auto [at, is_new] = found.try_emplace(id, file->name);
            if (!is_new && at->second != file->name)
                at->second.reset();
        }
    }
}

void PodNames::look(const std::set<std::string> &ids) {
    const bool has_new = !std::ranges::includes(looked_for_, ids);
    looked_for_ = ids;
    std::erase_if(names_, [&](const auto &known) { return !ids.contains(known.first); });
    if (ids.empty())
        return;
    Found found;
    for (Folder &folder : folders_)
        if (has_changed(folder) || (has_new && folder.inode))
            read(folder, ids, found);
    for (auto &[id, name] : found)
        if (name)
            names_.insert_or_assign(id, std::move(*name));
        else
            names_.erase(id);
}

std::optional<PodName> PodNames::find(const Identity &id) const {
    for (const auto *const key : {&id.container, &id.pod})
        if (const auto at = *key ? names_.find(**key) : names_.end(); at != names_.end())
            return at->second;
    return std::nullopt;
}

} // namespace nvdebug::base
