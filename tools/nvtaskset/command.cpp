// SPDX-License-Identifier: MIT OR GPL-2.0
#include "command.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "choice.hpp"
#include "choice_lock.hpp"
#include "lib/base/inherited.hpp"
#include "lib/partition/page.hpp"
#include "lib/partition/text.hpp"
#include "lib/partition/variables.hpp"
#include "map_file.hpp"
#include "messages.hpp"
#include "mps.hpp"
#include "watcher.hpp"

namespace nvtaskset {
namespace {

std::size_t clients_of(std::uint32_t server, const std::vector<Task> &others) {
    return static_cast<std::size_t>(std::ranges::count_if(
        others, [server](const Task &task) { return task.page->state().mps_server == server; }));
}

/// Chooses an MPS server of nvtaskset: that of --turn, or else the first that has room.
Outcome<std::uint32_t> choose_server(const Options &options, const std::vector<Task> &others) {
    if (options.turn && clients_of(options.turn, others) >= clients_max)
        return fail("turn " + std::to_string(options.turn) + " has " + std::to_string(clients_max) +
                    " tasks, the most that an MPS server takes");
    std::uint32_t server = options.turn ? options.turn : 1;
    while (clients_of(server, others) >= clients_max)
        server++;
    return server;
}

/// Prints, before the command starts, which other settings limit it.
void name_limits(const Options &options, const OtherMps &mps) {
    constexpr const char *percentage = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
    if (const char *const part = variable(percentage))
        note(options, std::string(percentage) + " is " + part +
                          ": as a client of an MPS server the command has this percentage of the "
                          "GPU's SMs at most, "
                          "whatever its partition");
    if (mps.named && !mps.answers)
        note(options, "CUDA_MPS_PIPE_DIRECTORY is " + mps.folder +
                          ", where no MPS server answers: tasks run one after the other");
}

/// Makes the page, and chooses its partitions while no other task of this user chooses.
Outcome<Page> page_with_choice(const Options &options, const std::vector<Target> &targets,
                               bool own_server) {
    std::optional<ChoiceLock> lock;
    if (options.exclusive || !options.size.empty() || own_server) {
        auto taken = ChoiceLock::take();
        if (!taken)
            return fail(taken.error());
        lock.emplace(std::move(*taken));
    }
    const std::vector<Task> others = tasks();
    const auto partitions = chosen_partitions(options, targets, others);
    if (!partitions)
        return fail(partitions.error());
    auto page = Page::make();
    if (!page)
        return fail(
            std::string("cannot create the memory that nvtaskset shares with the command: ") +
                std::strerror(errno),
            Exit::failed);
    for (const Partition &partition : *partitions)
        page->set(partition);
    page->writable()->exclusive = options.exclusive;
    if (own_server) {
        const auto server = choose_server(options, others);
        if (!server)
            return fail(server.error());
        page->writable()->mps_server = *server;
    }
    return std::move(*page);
}

/// Sets the variables by which the command's processes find their partitions.
/// @param kernels the folder for their launches; empty: they are not noted
void describe_to_command(const Options &options, const std::string &kernels, const Page &page) {
    std::string texts;
    for (const Slot &slot : page.state().slots)
        if (const auto partition = read_partition(slot))
            texts += (texts.empty() ? "" : ";") + partition_text(*partition);
    setenv(injection_variable, injection_path().c_str(), 1);
    setenv(page_variable, page_name_text({getpid(), page.descriptor(), page.inode()}).c_str(), 1);
    setenv(partitions_variable, texts.c_str(), 1);
    if (options.best_effort)
        setenv(best_effort_variable, "1", 1);
    if (options.whole_count)
        setenv(whole_count_variable, "1", 1);
    if (!kernels.empty())
        setenv(kernels_variable, kernels.c_str(), 1);
}

/// Makes the folder of --kernels, unless it exists. Returns its absolute path, because processes of
/// the command may work elsewhere.
Outcome<std::string> kernels_folder(const std::string &folder) {
    // Behind the name of a file, "/." has realpath() fail.
    char path[PATH_MAX];
    if ((mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) &&
        realpath((folder + "/.").c_str(), path) && access(path, W_OK | X_OK) == 0)
        return path;
    const int error = errno;
    return fail("--kernels cannot write into the folder " + folder + ": " + std::strerror(error),
                static_cast<Exit>(nvdebug::base::exit_status::of_file(error)));
}

/// Leaves the task in which nvtaskset was started, so that the command has none of its options.
void leave_task() {
    const char *const named = variable(page_variable);
    const auto name = named ? parse_page_name(named) : std::nullopt;
    if (!name)
        return;
    if (const auto page = Page::open(name->descriptor, Access::look);
        page && page->inode() == name->inode)
        close(name->descriptor);
    unsetenv(best_effort_variable);
    unsetenv(whole_count_variable);
    unsetenv(kernels_variable);
    leave_mps();
}

/// Returns true if execvp() would find a file for @p command, even if it could not run the file.
bool is_there(const std::string &command) {
    if (command.find('/') != command.npos)
        return access(command.c_str(), F_OK) == 0 || errno != ENOENT;
    const char *const path = std::getenv("PATH");
    std::string_view folders = path ? path : "/bin:/usr/bin";
    for (bool is_last = false; !is_last && !command.empty();) {
        const std::size_t end = std::min(folders.find(':'), folders.size());
        is_last = end == folders.size();
        const std::string folder(folders.substr(0, end));
        if (access(((folder.empty() ? "." : folder) + "/" + command).c_str(), F_OK) == 0)
            return true;
        folders.remove_prefix(is_last ? end : end + 1);
    }
    return false;
}

/// Fails if the library cannot be loaded, because CUDA would go on without it and print nothing.
Outcome<void> check_library(const std::string &library) {
    if (access(library.c_str(), R_OK) < 0)
        return fail("the library that keeps programs to a partition is not installed: " + library,
                    Exit::not_supported);
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL))
        return fail(
            std::string("the library that keeps programs to a partition cannot be loaded: ") +
                dlerror(),
            Exit::not_supported);
    return {};
}

} // namespace

Exit run_command(const Options &options) {
    // A mistyped name is an error before a GPU is asked and an MPS server is started.
    if (!is_there(options.command[0]))
        return refuse(options.command[0] + ": " + std::strerror(ENOENT), Exit::not_found);
    const std::string library = injection_path();
    if (const auto checked = check_library(library); !checked)
        return refuse(checked.error());
    if (const char *const other = variable(injection_variable); other && library != other)
        return refuse(
            std::string(injection_variable) + " is " + other +
            ": CUDA loads a single library, a profiler's or nvtaskset's; unset the variable");
    std::string kernels;
    if (!options.kernels.empty()) {
        auto folder = kernels_folder(options.kernels);
        if (!folder)
            return refuse(folder.error());
        kernels = std::move(*folder);
    }
    leave_task();
    std::vector<Target> targets;
    OtherMps other;
    if (!options.prepare) {
        auto found = targets_of_command(options);
        if (!found)
            return refuse(found.error());
        targets = std::move(*found);
        if (options.mps)
            other = other_mps();
        name_limits(options, other);
    }
    const bool has_other = other.named || other.answers;
    if (options.turn && has_other)
        return refuse("--turn is for nvtaskset's own MPS servers, and another one is named "
                      "(CUDA_MPS_PIPE_DIRECTORY) or at NVIDIA's own place");
    const bool mps = options.mps && !options.prepare;
    auto made = page_with_choice(options, targets, mps && !has_other);
    if (!made)
        return refuse(made.error());
    std::optional<Page> page(std::move(*made));
    if (mps)
        set_connections();
    if (const std::uint32_t server = page->state().mps_server) {
        if (const auto joined = join_mps(server); !joined)
            return refuse(joined.error());
        if (server > 1 && !options.turn)
            note(options, "an MPS server takes " + std::to_string(clients_max) +
                              " tasks; this one is at server " + std::to_string(server) +
                              ", and tasks of different servers take turns");
    }
    describe_to_command(options, kernels, *page);
    watch(page);
    // From now on the descriptor is inherited by the command.
    fcntl(page->descriptor(), F_SETFD, 0);
    std::vector<char *> words;
    for (const std::string &word : options.command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    nvdebug::base::give_inheritance_back();
    execvp(words[0], words.data());
    const int error = errno;
    return refuse(options.command[0] + ": " + std::strerror(error),
                  error == ENOENT ? Exit::not_found : Exit::cannot_run);
}

} // namespace nvtaskset
