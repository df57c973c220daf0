// SPDX-License-Identifier: MIT OR GPL-2.0
#include "commands.hpp"

#include "check/check.hpp"
#include "check/doctor.hpp"
#include "cli/completion.hpp"
#include "cli/help.hpp"
#include "live/top.hpp"
#include "live/watch.hpp"
#include "objects/objects.hpp"
#include "recording/record.hpp"
#include "recording/recording.hpp"
#include "task/task.hpp"

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
        {"exec", "run a CUDA program on some TPCs", exec_commands()},
        {"copy", "copy engines, and which of them contend", copy_commands()},
        {"topology", "GPCs, TPCs, SMs and the work distributor", topology_commands()},
        {"memory", "the GPU's page tables", memory_commands()},
        {"check", "what a real-time engineer asks of this GPU", check_commands()},
        {"watch", "the tasks on the engines, live", watch_commands()},
        {"top", "which process has how much of the GPU, live", top_commands()},
        {"record", "which process has the GPU when: its context switches, recorded",
         record_commands()},
        {"recording", "what was recorded", recording_commands()},
        {"capture", "save the GPUs' state in one file, and compare two", capture_commands()},
        {"doctor", "is everything in place?", doctor_commands()},
        {"completion", "completion for shells", completion_commands()},
        {"help", "help, also for machines", help_commands()},
    };
}

} // namespace nvdebugctl
