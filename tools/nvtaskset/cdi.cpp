// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cdi.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "choice.hpp"
#include "choice_lock.hpp"
#include "folder.hpp"
#include "lib/partition/page.hpp"
#include "lib/partition/text.hpp"
#include "map_file.hpp"
#include "messages.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char *kind = "nvdebug.io/tpcs";
/// Of a library that the image has at no place of its own.
constexpr const char *inside = "/usr/lib/nvtaskset/libnvtaskset.so";

/// The partitions, chosen as a command's are, as the environment has them.
Outcome<std::string> partitions_text(const Options &options) {
    const auto targets = targets_of_command(options);
    if (!targets)
        return fail(targets.error());
    std::optional<ChoiceLock> lock;
    if (options.exclusive || !options.size.empty()) {
        auto taken = ChoiceLock::take();
        if (!taken)
            return fail(taken.error());
        lock.emplace(std::move(*taken));
    }
    const auto partitions = chosen_partitions(options, *targets, tasks());
    if (!partitions)
        return fail(partitions.error());
    std::string text;
    for (const Partition &partition : *partitions)
        text += (text.empty() ? "" : ";") + partition_text(partition);
    return text;
}

Json document(const Options &options, const std::string &partitions, const std::string &library,
              const std::string &tool) {
    Json env = Json::array({std::string(injection_variable) + "=" + inside});
    if (!partitions.empty())
        env.push_back(std::string(partitions_variable) + "=" + partitions);
    if (options.best_effort)
        env.push_back(std::string(best_effort_variable) + "=1");
    if (options.whole_count)
        env.push_back(std::string(whole_count_variable) + "=1");
    const Json mount = {{"hostPath", library},
                        {"containerPath", inside},
                        {"options", Json::array({"ro", "nosuid", "nodev", "bind"})}};
    Json edits = {{"env", env}, {"mounts", Json::array({mount})}};
    const Json hook = {{"hookName", "createContainer"},
                       {"path", tool},
                       {"args", Json::array({"nvtaskset", "--check-image"})}};
    if (!options.best_effort)
        edits["hooks"] = Json::array({hook});
    const Json device = {{"name", options.cdi}, {"containerEdits", edits}};
    return {{"cdiVersion", "0.5.0"}, {"kind", kind}, {"devices", Json::array({device})}};
}

/// As a whole, since runtimes read all files of the folder whenever they start a container.
Outcome<void> write_file(const fs::path &folder, const std::string &name, const std::string &text) {
    std::error_code error;
    fs::create_directories(folder, error);
    const std::string path = folder / name, problem = "cannot write " + path + ": ";
    if (error)
        return fail(problem + error.message() + "; --cdi-folder names another folder");
    // Runtimes take files that end with .json.
    std::string fresh = folder / ("." + name + ".XXXXXX");
    const int file = mkostemp(fresh.data(), O_CLOEXEC);
    if (file < 0)
        return fail(problem + std::strerror(errno) + "; --cdi-folder names another folder");
    const ssize_t sent = write(file, text.data(), text.size());
    int failed = sent == static_cast<ssize_t>(text.size()) ? 0 : sent < 0 ? errno : ENOSPC;
    if (!failed && fchmod(file, 0644) < 0)
        failed = errno;
    if (close(file) < 0 && !failed)
        failed = errno;
    if (!failed && rename(fresh.c_str(), path.c_str()) < 0)
        failed = errno;
    if (!failed)
        return {};
    unlink(fresh.c_str());
    return fail(problem + std::strerror(failed));
}

} // namespace

Exit write_device(const Options &options) {
    std::error_code error;
    const std::string library = injection_path(),
                      tool = fs::read_symlink("/proc/self/exe", error).string();
    if (access(library.c_str(), R_OK) < 0)
        return refuse("the library that keeps programs to a partition is not installed: " +
                      library);
    // Runtimes run the tool as root, and containers of all users have the library.
    for (const std::string &path : {library, tool})
        if (!is_private(path))
            return refuse("others than you and root can change " + path +
                          ", which containers would run; install nvtaskset where only root writes");
    std::string partitions;
    if (!options.prepare) {
        const auto text = partitions_text(options);
        if (!text)
            return refuse(text.error());
        partitions = *text;
    }
    const std::string content = document(options, partitions, library, tool).dump(1) + "\n";
    const std::string name = "nvdebug.io-tpcs-" + options.cdi + ".json";
    if (const auto done = write_file(options.cdi_folder, name, content); !done)
        return refuse(done.error());
    if (options.mps && !options.prepare)
        note(options, "containers with this device take turns with other tasks, each on its TPCs, "
                      "unless they are clients of an MPS server (docs/containers.md)");
    std::printf("%s=%s\n", kind, options.cdi.c_str());
    return written(Exit::done);
}

} // namespace nvtaskset
