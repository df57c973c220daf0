// SPDX-License-Identifier: MIT OR GPL-2.0
// The part of the stand-in with other processes that use the GPU, and their clients.
#include "stand_in.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace driver_test {

namespace {

// The descriptors of a process: numbers of its files.
constexpr int gpu_descriptor = 7, control_descriptor = 8, other_descriptor = 9, first_copy = 100;
constexpr std::uint64_t control_device = 195 << 8 | 255;

} // namespace

void StandIn::end_process(std::uint32_t pid) {
    std::set<std::uint32_t> clients = processes.at(pid).clients;
    processes.erase(pid);
    if (const auto life = lives_.find(pid); life != lives_.end())
        ::close(std::exchange(life->second.write, -1));
    if (std::ranges::any_of(taken_, [&](const auto &taken) { return taken.second == pid; }))
        dying_[pid] = std::move(clients);
    else
        for (const std::uint32_t client : clients)
            others.erase(client);
}

StandIn::Process *StandIn::process_of(const std::string &path, std::string &rest) {
    std::uint32_t pid = 0;
    int end = 0;
    if (std::sscanf(path.c_str(), "/proc/%u/%n", &pid, &end) != 1 || !end)
        return nullptr;
    rest = path.substr(static_cast<std::size_t>(end));
    const auto process = processes.find(pid);
    if (process == processes.end())
        return nullptr;
    const std::string thread = "task/" + std::to_string(pid + other_thread) + "/";
    if (process->second.first_thread_ended && rest.starts_with(thread))
        rest.erase(0, thread.size());
    else if (process->second.first_thread_ended && rest.starts_with("fd"))
        rest = "nothing";
    return &process->second;
}

std::string StandIn::read(const std::string &path) {
    const std::scoped_lock calling(lock_);
    std::string name;
    if (const Process *const process = process_of(path, name)) {
        if (name == "comm")
            return process->command + "\n";
        if (name == "cgroup")
            return process->cgroup;
        if (name == "status")
            return process->status;
        if (name == "stat")
            // The name has blanks and a parenthesis. The start is field 22.
            return std::string("5 (a) b) ") + (process->first_thread_ended ? "Z" : "S") + " " +
                   std::to_string(process->parent) + " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 " +
                   (process->first_thread_ended ? "2" : "1") + " 0 " +
                   std::to_string(process->started) + " 0 0\n";
        return "";
    }
    const auto file = files.find(path);
    return file == files.end() ? "" : file->second;
}

void StandIn::use_up_names(std::uint32_t names) {
    next_client_ = rm::first_client + ((next_client_ - rm::first_client + names) & 0xfffff);
}

std::uint32_t StandIn::new_client() {
    for (;; use_up_names(1))
        if (next_client_ != rm::first_client && !others.contains(next_client_)) {
            const std::uint32_t client = next_client_;
            use_up_names(1);
            return client;
        }
}

int StandIn::list(const std::string &path, std::vector<std::string> &names) {
    if (before_list)
        before_list();
    const std::scoped_lock calling(lock_);
    if (path == "/proc") {
        names.insert(names.end(), {"1", "version", "sys"});
        for (const auto &[pid, process] : processes)
            names.push_back(std::to_string(pid));
        return 0;
    }
    std::string name;
    const Process *const process = process_of(path, name);
    if (process && process->first_thread_ended && name == "nothing")
        return 0;
    if (process && process->first_thread_ended && name == "task") {
        std::uint32_t pid = 0;
        std::sscanf(path.c_str(), "/proc/%u/", &pid);
        names.insert(names.end(), {std::to_string(pid), std::to_string(pid + other_thread)});
        return 0;
    }
    if (!process || name != "fd")
        return -ENOENT;
    if (process->hidden)
        return -EACCES;
    for (const int descriptor : {gpu_descriptor, control_descriptor, other_descriptor})
        names.push_back(std::to_string(descriptor));
    for (unsigned n = 0; n < process->copies; n++)
        names.push_back(std::to_string(first_copy + static_cast<int>(n)));
    return 0;
}

std::optional<std::uint64_t> StandIn::device(const std::string &path) {
    const std::scoped_lock calling(lock_);
    constexpr std::uint64_t gpu_device = 195 << 8;
    std::string name;
    unsigned number = 0;
    if (path == "/dev/nvidiactl")
        return control_device;
    if (std::sscanf(path.c_str(), "/dev/nvidia%u", &number) == 1)
        return gpu_device | number;
    if (std::sscanf(path.c_str(), "/proc/self/fd/%u", &number) == 1)
        return taken_.contains(static_cast<int>(number)) ? std::optional(control_device)
                                                         : std::nullopt;
    const Process *const process = process_of(path, name);
    if (process && process->uses_gpu && name == "fd/" + std::to_string(gpu_descriptor))
        return gpu_device | process->gpu;
    if (process && name == "fd/" + std::to_string(control_descriptor))
        return control_device;
    int copy = 0;
    if (process && std::sscanf(name.c_str(), "fd/%d", &copy) == 1 && copy >= first_copy)
        return control_device;
    return std::nullopt;
}

int StandIn::process(std::uint32_t pid) {
    const std::scoped_lock calling(lock_);
    if (!processes.contains(pid))
        return -ESRCH;
    if (real_processes) {
        const int real = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        if (real < 0)
            return -errno;
        open_.emplace(real, "a process");
        held_.emplace(real, pid);
        return real;
    }
    const auto [life, fresh] = lives_.try_emplace(pid);
    int ends[2];
    if (fresh && ::pipe2(ends, O_CLOEXEC) == 0)
        life->second = {ends[0], ends[1]};
    const int descriptor = ::fcntl(life->second.read, F_DUPFD_CLOEXEC, 0);
    open_.emplace(descriptor, "a process");
    held_.emplace(descriptor, pid);
    return descriptor;
}

int StandIn::thread(std::uint32_t tid) {
    const std::scoped_lock calling(lock_);
    if (!has_thread_descriptors)
        return -EINVAL;
    if (tid < other_thread)
        return -ESRCH;
    const int descriptor = process(tid - other_thread);
    if (descriptor >= 0)
        held_threads_.insert(descriptor);
    return descriptor;
}

int StandIn::take(int held, int descriptor) {
    const std::scoped_lock calling(lock_);
    if (before_take)
        before_take();
    const std::uint32_t pid = held_.at(held);
    const auto process = processes.find(pid);
    if (process == processes.end())
        return -ESRCH;
    if (process->second.denied)
        return -EPERM;
    if (process->second.first_thread_ended && !held_threads_.contains(held))
        return -ESRCH;
    if (taken_.size() >= descriptors_most)
        return -EMFILE;
    most_taken = std::max(most_taken, taken_.size() + 1);
    if (descriptor != control_descriptor && descriptor < first_copy)
        wrong("a descriptor taken that is not of /dev/nvidiactl");
    open_.emplace(next_, "/dev/nvidiactl");
    taken_.emplace(next_, pid);
    return next_++;
}

int StandIn::fork() {
    lock_.lock();
    const pid_t child = ::fork(); // the C library's fork(), because the child allocates
    if (child == 0)
        std::construct_at(&lock_); // the lock belongs to a thread of the parent
    else
        lock_.unlock();
    return child < 0 ? -errno : static_cast<int>(child);
}

std::set<pid_t> StandIn::forked(const std::string &name) const {
    // The processes share memory, which has an inode of its own and the same address in all of
    // them.
    const auto shared = [this](const std::filesystem::path &process) {
        std::ifstream maps(process / "maps");
        for (std::string line; std::getline(maps, line);)
            if (std::strtoull(line.c_str(), nullptr, 16) ==
                reinterpret_cast<std::uintptr_t>(shared_))
                return line;
        return std::string();
    };
    const std::string own = shared("/proc/self");
    std::set<pid_t> found;
    for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "stat");
        std::string pid, named, state;
        if (file >> pid >> named >> state && named == "(" + name + ")" && state != "Z" &&
            shared(entry.path()) == own)
            found.insert(std::stoi(pid));
    }
    return found;
}

std::uint32_t StandIn::add_process(std::uint32_t pid, const std::vector<std::uint64_t> &instances) {
    const std::uint32_t client = new_client(), device = rm::first_object_of_cuda + 2,
                        subdevice = device + 1, tsg = device + 0x10;
    Objects &objects = others[client];
    objects[client] = {0, 0x41};
    objects[device] = {client, rm::class_device};
    objects[subdevice] = {device, rm::class_subdevice};
    objects[tsg] = {device, rm::class_tsg, 2048};
    std::uint32_t channel = tsg;
    for (const std::uint64_t instance : instances) {
        objects[channel += 4] = {tsg, 0xc86f, 0, {rm::MemoryInfo::video, instance, 4096}};
        objects[channel + 1] = {channel, 0xcbc0}; // an object on the channel, here for compute
    }
    processes[pid].clients.insert(client);
    return client;
}

} // namespace driver_test
