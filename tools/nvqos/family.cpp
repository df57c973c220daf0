// SPDX-License-Identifier: MIT OR GPL-2.0
#include "family.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unistd.h>
#include <unordered_map>

#include "lib/base/cgroup.hpp"

namespace nvqos {

using nvdebug::base::Birth;
using nvdebug::base::ProcessState;

void Family::add(const Birth &root) {
    const std::scoped_lock held(lock_);
    members_.insert(root);
    had_members_ = true;
}

void Family::add_cgroup(const std::string &path) {
    const std::scoped_lock held(lock_);
    cgroups_.insert(path);
}

void Family::remove_cgroup(const std::string &path) {
    const std::scoped_lock held(lock_);
    cgroups_.erase(path);
}

bool Family::has(const nvdebug::Process &process) const {
    const std::scoped_lock held(lock_);
    return (process.started && members_.contains({process.pid, *process.started})) ||
           std::ranges::any_of(cgroups_, [&](const std::string &path) {
               return nvdebug::base::is_below(process.cgroup.value_or(""), path);
           });
}

std::set<Birth> Family::members() const {
    const std::scoped_lock held(lock_);
    return members_;
}

std::set<std::string> Family::cgroups() const {
    const std::scoped_lock held(lock_);
    return cgroups_;
}

bool Family::has_ended() const {
    // A thread with a deadline may wait for the lock, so the system is asked without it.
    for (std::optional<Birth> last;;) {
        {
            const std::scoped_lock held(lock_);
            const auto next = last ? members_.upper_bound(*last) : members_.begin();
            if (next == members_.end())
                return true;
            last = *next;
        }
        if (nvdebug::base::lives(*last))
            return false;
    }
}

bool Family::had_members() const {
    const std::scoped_lock held(lock_);
    return had_members_;
}

std::uint64_t Family::found() const {
    const std::scoped_lock held(lock_);
    return found_;
}

namespace {

/// A set of families, by their numbers. Many processes share one such object.
using Families = std::set<std::size_t>;

/// Assigns all processes to the families of their ancestors.
class Tree {
  public:
    explicit Tree(const std::vector<ProcessState> &all) : all_(all), of_(all.size()) {
        for (std::size_t n = 0; n < all.size(); n++)
            by_pid_.emplace(all[n].birth.pid, n);
    }

    bool has(const Birth &birth) const {
        const auto at = by_pid_.find(birth.pid);
        return at != by_pid_.end() && all_[at->second].birth == birth;
    }
    bool has(pid_t pid) const { return by_pid_.contains(static_cast<std::uint32_t>(pid)); }

    /// @param roots members of families
    void divide(const std::map<Birth, Families> &roots) {
        std::vector<std::size_t> path;
        for (std::size_t n = 0; n < all_.size(); n++) {
            // Walk up from each process to an ancestor whose families are known, and back down. The
            // parents were not read at one moment, so they may form a ring.
            path.clear();
            for (std::size_t at = n; !of_[at] && path.size() <= all_.size();) {
                path.push_back(at);
                const auto parent = by_pid_.find(all_[at].parent);
                if (parent == by_pid_.end())
                    break;
                at = parent->second;
            }
            for (; !path.empty(); path.pop_back())
                of_[path.back()] = of(path.back(), roots);
        }
    }
    const Families &of(std::size_t n) const { return *of_[n]; }

  private:
    /// Returns the parent's families, and with them the process' own.
    std::shared_ptr<const Families> of(std::size_t n,
                                       const std::map<Birth, Families> &roots) const {
        const auto parent = by_pid_.find(all_[n].parent);
        const auto &above =
            parent == by_pid_.end() || !of_[parent->second] ? none_ : of_[parent->second];
        const auto own = roots.find(all_[n].birth);
        if (own == roots.end() || std::ranges::includes(*above, own->second))
            return above;
        auto both = std::make_shared<Families>(*above);
        both->insert(own->second.begin(), own->second.end());
        return both;
    }

    const std::vector<ProcessState> &all_;
    std::unordered_map<std::uint32_t, std::size_t> by_pid_;
    const std::shared_ptr<const Families> none_ = std::make_shared<Families>();
    std::vector<std::shared_ptr<const Families>> of_; ///< by process; nullptr: not known so far
};

} // namespace

void look_for_descendants(std::span<const std::shared_ptr<Family>> families,
                          const std::function<std::vector<ProcessState>()> &all) {
    // The members are copied before the processes are read. A member that is added later is not in
    // the list of processes, and must not count as ended.
    std::vector<std::set<Birth>> before;
    std::map<Birth, Families> roots;
    for (const auto &family : families) {
        before.push_back(family->members());
        for (const Birth &member : before.back())
            roots[member].insert(before.size() - 1);
    }
    if (roots.empty())
        return;
    const std::vector<ProcessState> processes = all();
    Tree tree(processes);
    if (!tree.has(::getpid()))
        return; // /proc could not be read
    tree.divide(roots);
    std::vector<std::vector<Birth>> found(families.size());
    for (std::size_t n = 0; n < processes.size(); n++)
        for (const std::size_t family : tree.of(n))
            found[family].push_back(processes[n].birth);
    for (std::size_t n = 0; n < families.size(); n++) {
        Family &family = *families[n];
        const std::scoped_lock held(family.lock_);
        for (const Birth &member : before[n])
            if (!tree.has(member))
                family.members_.erase(member);
        for (const Birth &member : found[n])
            family.found_ += family.members_.insert(member).second;
    }
}

} // namespace nvqos
