// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tasks.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <signal.h>
#include <sstream>
#include <unistd.h>

#include "gpus.hpp"
#include "parse.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;

const std::string page_link = "/memfd:" + std::string(state_name) + " (deleted)";
/// The device that each program with CUDA has open, but not nvidia-smi.
constexpr std::string_view gpu_link = "/dev/nvidia-uvm";

fs::path folder_of(pid_t pid) {
    return "/proc/" + std::to_string(pid);
}

std::string link_of(const fs::path &path) {
    std::error_code error;
    return fs::read_symlink(path, error).string();
}

/// Returns the lowest descriptors of a process. Their number is limited, because looking at each
/// takes a microsecond.
std::vector<fs::path> descriptors_of(pid_t pid) {
    constexpr std::size_t most = 0x10000;
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder_of(pid) / "fd", error), end;
         !error && at != end && found.size() < most; at.increment(error))
        found.push_back(at->path());
    return found;
}

std::optional<pid_t> pid_of(const std::string &text) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(pid)
                                                                    : std::nullopt;
}

/// Returns true if the process has opened the descriptor to look, so that it is no part of the
/// task.
bool is_looking(pid_t pid, int number) {
    std::ifstream about(folder_of(pid) / "fdinfo" / std::to_string(number));
    int flags = 0;
    for (std::string word; about >> word;)
        if (word == "flags:" && about >> std::oct >> flags)
            break;
    return flags & only_looks;
}

/// Returns the page that the library has mapped for writing in a process. A process that only looks
/// maps a page read-only.
std::optional<ino_t> mapped_page(pid_t pid) {
    std::ifstream maps(folder_of(pid) / "maps");
    std::optional<ino_t> found;
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        std::string range, access, offset, device;
        ino_t inode = 0;
        if (line.ends_with(page_link) && words >> range >> access >> offset >> device >> inode &&
            access == "rw-s")
            found = inode;
    }
    return found;
}

/// Returns the page with which a process was started, by its environment.
std::optional<ino_t> named_page(pid_t pid) {
    std::ifstream environment(folder_of(pid) / "environ");
    const std::string key = std::string(page_variable) + "=";
    for (std::string entry; std::getline(environment, entry, '\0');)
        if (entry.starts_with(key))
            if (const auto name = parse_page_name(std::string_view(entry).substr(key.size())))
                return name->inode;
    return std::nullopt;
}

} // namespace

/// A process may have several pages open, as it inherits the pages of tasks in which its own task
/// was started. So its page is the one that is mapped, or else the one in the environment, or else
/// the newest.
std::shared_ptr<Page> page_of(pid_t pid, Access access) {
    constexpr std::size_t pages_max = 32;
    std::vector<int> numbers;
    for (const fs::path &path : descriptors_of(pid))
        if (link_of(path) == page_link)
            if (const auto number = pid_of(path.filename()); number && !is_looking(pid, *number))
                numbers.push_back(*number);
    if (numbers.empty())
        return nullptr;
    // The newest page comes first, because a page gets the lowest free number above older pages.
    std::ranges::sort(numbers, std::greater());
    numbers.resize(std::min(numbers.size(), pages_max));
    std::vector<std::pair<int, Page>> pages;
    for (const int number : numbers)
        if (auto page = Page::of_process(pid, number, Access::look))
            pages.emplace_back(number, std::move(*page));
    if (pages.empty())
        return nullptr;
    // The environment is read only if it decides, because it is memory of the process, which may
    // take long to read.
    const std::optional<ino_t> mapped = mapped_page(pid);
    const std::optional<ino_t> used = mapped || pages.size() == 1 ? mapped : named_page(pid);
    auto chosen =
        std::ranges::find_if(pages, [&](const auto &one) { return one.second.inode() == used; });
    if (chosen == pages.end()) {
        if (mapped)
            return nullptr;
        chosen = pages.begin();
    }
    std::optional<Page> page = std::move(chosen->second);
    if (page->state().probes)
        return nullptr;
    if (access != Access::look) {
        auto writable = Page::of_process(pid, chosen->first, access);
        if (!writable || writable->inode() != page->inode())
            return nullptr;
        page = std::move(writable);
    }
    return page ? std::make_shared<Page>(std::move(*page)) : nullptr;
}

std::optional<Process> look_at(pid_t pid) {
    std::ifstream name(folder_of(pid) / "comm");
    Process process{pid, "", false, false};
    if (!std::getline(name, process.command))
        return std::nullopt;
    process.injected = mapped_page(pid).has_value();
    for (const fs::path &path : descriptors_of(pid))
        process.uses_gpu = process.uses_gpu || link_of(path) == gpu_link;
    return process;
}

std::uint64_t unkept_launches(const State &state, const Slot *slot) {
    const std::uint64_t lost = state.lost;
    return slot ? lost + slot->counts.cluster + slot->counts.unknown + slot->counts.outside : lost;
}

std::optional<Keeping> keeping_of(pid_t pid, const std::string &pci_address) {
    const auto page = page_of(pid, Access::look);
    if (!page || !has_partition(page->state()))
        return std::nullopt;
    const auto process = look_at(pid);
    const auto uuid = uuid_of(pci_address);
    if (!process || !uuid)
        return std::nullopt;
    const Slot *const slot = page->find(*uuid);
    const auto setting = slot ? read_setting(*slot) : std::nullopt;
    if (setting && setting->use == Use::whole)
        return std::nullopt;
    Keeping keeping{std::nullopt, unkept_launches(page->state(), slot) == 0 &&
                                      (process->injected || !process->uses_gpu)};
    if (setting && setting->use == Use::partition) {
        const Partition &partition = setting->partition;
        int tpcs = 0;
        for (std::size_t word = 0; word < partition.exists.size(); word++)
            tpcs += std::popcount(partition.exists[word] & ~partition.disabled[word]);
        keeping.tpcs = static_cast<std::uint32_t>(tpcs);
    }
    return keeping;
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
        auto page = page_of(pid, Access::look);
        const auto process = page ? look_at(pid) : std::nullopt;
        if (!process)
            continue;
        const auto same = std::ranges::find_if(
            found, [&](const Task &task) { return task.page->inode() == page->inode(); });
        Task &of = same == found.end() ? found.emplace_back(Task{std::move(page), {}}) : *same;
        of.processes.push_back(*process);
    }
    return found;
}

Outcome<Task> task_of(pid_t pid, Access access) {
    const std::string who = "process " + std::to_string(pid);
    if (pid <= 0 || (kill(pid, 0) < 0 && errno == ESRCH))
        return fail("there is no " + who, Exit::bad_usage);
    std::error_code error;
    static_cast<void>(fs::directory_iterator(folder_of(pid) / "fd", error));
    if (error)
        return fail(who + " is not yours: its partition may be changed by its user and by root");
    auto page = page_of(pid, access);
    if (!page) {
        const auto process = look_at(pid);
        return fail(who + (process && process->uses_gpu ? " uses the GPU and" : "") +
                    " was not started by nvtaskset, so that its TPCs cannot be set; start it with "
                    "'nvtaskset --prepare', or set its time ('nvdebugctl task set')");
    }
    Task task{std::move(page), {}};
    for (Task &each : tasks())
        if (each.page->inode() == task.page->inode())
            task.processes = std::move(each.processes);
    return task;
}

} // namespace nvtaskset
