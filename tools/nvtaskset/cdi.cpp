// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cdi.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

#include "choice.hpp"
#include "choice_lock.hpp"
#include "lib/base/container_device.hpp"
#include "lib/partition/page.hpp"
#include "lib/partition/text.hpp"
#include "map_file.hpp"
#include "messages.hpp"

namespace nvtaskset {
namespace {

namespace base = nvdebug::base;
using Json = nlohmann::ordered_json;

/// The place of the library in a container. Images have no file there.
constexpr const char *inside = "/usr/lib/nvtaskset/libnvtaskset.so";

/// Chooses partitions as for a command, and returns the value of partitions_variable.
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

Json edits_of(const Options &options, const std::string &partitions, const std::string &library,
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
    return edits;
}

} // namespace

Exit write_device(const Options &options) {
    const std::string library = injection_path();
    if (access(library.c_str(), R_OK) < 0)
        return refuse("the library that keeps programs to a partition is not installed: " + library,
                      Exit::not_supported);
    const auto tool = base::expect_private(library).and_then(base::own_path_for_hooks);
    if (!tool)
        return refuse(tool.error());
    std::string partitions;
    if (!options.prepare) {
        const auto text = partitions_text(options);
        if (!text)
            return refuse(text.error());
        partitions = *text;
    }
    const base::ContainerDevice device{"nvdebug.io/tpcs", options.cdi,
                                       edits_of(options, partitions, library, *tool)};
    if (const auto done = base::write_device(device, options.cdi_folder); !done)
        return refuse(done.error());
    if (options.mps && !options.prepare)
        note(options, "containers with this device take turns with other tasks, each on its TPCs, "
                      "unless they are clients of an MPS server (docs/containers.md)");
    std::printf("%s\n", device.whole_name().c_str());
    return written(Exit::done);
}

} // namespace nvtaskset
