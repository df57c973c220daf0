// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tasks.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpus.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;

const std::string page_link = "/memfd:" + std::string(state_name) + " (deleted)";
/** What a program that uses CUDA has open; not nvidia-smi. */
constexpr std::string_view gpu_link = "/dev/nvidia-uvm";

fs::path folder_of(pid_t pid) {
    return "/proc/" + std::to_string(pid);
}

std::string link_of(const fs::path &path) {
    std::error_code error;
    return fs::read_symlink(path, error).string();
}

std::vector<fs::path> descriptors_of(pid_t pid) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder_of(pid) / "fd", error), end; !error && at != end;
         at.increment(error))
        found.push_back(at->path());
    return found;
}

std::optional<pid_t> pid_of(const std::string &text) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(pid)
                                                                    : std::nullopt;
}

/** How an nvtaskset opens the pages of tasks that it looks at: for a page it means nothing else. */
constexpr int only_looks = O_NONBLOCK;

/** Is @p descriptor, of a process, one that only looks? Then the process is no part of the task. */
bool is_looking(pid_t pid, const fs::path &descriptor) {
    std::ifstream about(folder_of(pid) / "fdinfo" / descriptor.filename());
    int flags = 0;
    for (std::string word; about >> word;)
        if (word == "flags:" && about >> std::oct >> flags)
            break;
    return flags & only_looks;
}

/** Its page, open. */
std::optional<Task> open_page(pid_t pid) {
    for (const fs::path &path : descriptors_of(pid)) {
        if (link_of(path) != page_link || is_looking(pid, path))
            continue;
        const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | only_looks);
        struct stat file {};
        if (descriptor < 0 || fstat(descriptor, &file) < 0)
            continue;
        if (auto page = Page::open(descriptor))
            return Task(file.st_ino, std::make_shared<Page>(std::move(*page)), descriptor);
        close(descriptor);
    }
    return std::nullopt;
}

} // namespace

Task::Task(Task &&other) noexcept
    : inode(other.inode), processes(std::move(other.processes)), page(std::move(other.page)),
      descriptor(std::exchange(other.descriptor, -1)) {}

Task &Task::operator=(Task &&other) noexcept {
    std::swap(inode, other.inode);
    std::swap(processes, other.processes);
    std::swap(page, other.page);
    std::swap(descriptor, other.descriptor);
    return *this;
}

Task::~Task() {
    if (descriptor >= 0)
        close(descriptor);
}

std::optional<Process> look_at(pid_t pid) {
    std::ifstream name(folder_of(pid) / "comm"), maps(folder_of(pid) / "maps");
    Process process{pid, "", false, false};
    if (!std::getline(name, process.command))
        return std::nullopt;
    for (std::string line; std::getline(maps, line);)
        process.injected = process.injected || line.ends_with(page_link);
    for (const fs::path &path : descriptors_of(pid))
        process.uses_gpu = process.uses_gpu || link_of(path) == gpu_link;
    return process;
}

std::optional<std::uint32_t> tpcs_kept_to(pid_t pid, const std::string &pci_address) {
    const auto all = gpus();
    const auto page = page_of(pid);
    if (!all || !page)
        return std::nullopt;
    const auto gpu = std::ranges::find(*all, pci_address, &Gpu::pci_address);
    const Slot *const slot = gpu == all->end() ? nullptr : page->find(gpu->uuid);
    const auto partition = slot ? read_partition(*slot) : std::nullopt;
    if (!partition)
        return std::nullopt;
    int tpcs = 0;
    for (std::size_t word = 0; word < partition->exists.size(); word++)
        tpcs += std::popcount(partition->exists[word] & ~partition->disabled[word]);
    return static_cast<std::uint32_t>(tpcs);
}

std::vector<Task> tasks() {
    std::vector<Task> found;
    std::vector<pid_t> pids;
    std::error_code error;
    for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error))
        if (const auto pid = pid_of(at->path().filename()); pid && *pid != getpid())
            pids.push_back(*pid);
    std::ranges::sort(pids);
    for (const pid_t pid : pids) {
        auto task = open_page(pid);
        const auto process = task ? look_at(pid) : std::nullopt;
        if (!process)
            continue;
        const auto same = std::ranges::find(found, task->inode, &Task::inode);
        Task &of = same == found.end() ? found.emplace_back(std::move(*task)) : *same;
        of.processes.push_back(*process);
    }
    return found;
}

std::shared_ptr<Page> page_of(pid_t pid) {
    const auto task = open_page(pid);
    return task ? task->page : nullptr;
}

Outcome<Task> task_of(pid_t pid) {
    const std::string who = "process " + std::to_string(pid);
    if (pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH))
        return fail("there is no " + who);
    std::error_code error;
    fs::directory_iterator(folder_of(pid) / "fd", error);
    if (error)
        return fail(who + " is not yours: its partition may be changed by its user and by root");
    auto task = open_page(pid);
    if (!task) {
        const auto process = look_at(pid);
        return fail(who + (process && process->uses_gpu ? " uses the GPU and" : "") +
                    " was not started by nvtaskset, so that its TPCs cannot be set; start it with "
                    "'nvtaskset --prepare', or set its time ('nvdebugctl task set')");
    }
    for (Task &each : tasks())
        if (each.inode == task->inode)
            task->processes = each.processes;
    return std::move(*task);
}

} // namespace nvtaskset
