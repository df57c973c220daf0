// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>

#include "command.hpp"

namespace nvdebugctl {

std::vector<Object> all_objects() {
    return {
        {"gpu", "the GPUs of this machine or capture", gpu_commands()},
        {"engine", "engines, and which of them share a runlist", engine_commands()},
        {"runlist", "runlists: the lists of tasks that the GPU goes round", runlist_commands()},
        {"tsg", "time-slice groups (TSGs): channels that take turns as one", tsg_commands()},
        {"channel", "channels: the queues through which a task's work comes", channel_commands()},
        {"process", "processes that use the GPU", process_commands()},
        {"task", "time on the GPU for a process that runs, through NVIDIA's driver",
         task_commands()},
        {"run", "run a CUDA program on some TPCs", run_commands()},
        {"copy", "copy engines, and which of them contend", copy_commands()},
        {"topology", "GPCs, TPCs, SMs and the work distributor", topology_commands()},
        {"memory", "the GPU's page tables", memory_commands()},
        {"check", "what a real-time engineer asks of this GPU", check_commands()},
        {"watch", "who is on the engines, live", watch_commands()},
        {"top", "which process has how much of the GPU, live", top_commands()},
        {"record", "who has the GPU when: its context switches, written down", record_commands()},
        {"recording", "what was recorded", recording_commands()},
        {"capture", "keep what the GPUs say now in one file", capture_commands()},
        {"doctor", "is everything in place?", doctor_commands()},
        {"completion", "completion for shells", completion_commands()},
        {"help", "help, also for machines", help_commands()},
    };
}

const Object *find_object(const std::vector<Object> &objects, std::string_view name) {
    const auto found = std::ranges::find(objects, name, &Object::name);
    return found == objects.end() ? nullptr : &*found;
}

const Command *find_command(const Object &object, std::string_view verb) {
    const auto found = std::ranges::find(object.commands, verb, &Command::verb);
    return found == object.commands.end() ? nullptr : &*found;
}

} // namespace nvdebugctl
