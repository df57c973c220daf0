// SPDX-License-Identifier: MIT OR GPL-2.0
#include "program.hpp"

#include "candidates.hpp"

namespace nvtaskset {
namespace {

using nvdebug::cli::Option;

std::vector<std::string> turns(const std::string &) {
    return {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
}

std::vector<Option> options() {
    return {
        {.name = "--tpcs",
         .help = "these: 0-15,20",
         .value = "LIST",
         .short_name = "-t",
         .heading = "Which TPCs (two SMs each):"},
        {"--gpcs", "all of these GPCs: 0,2", "LIST", "-g"},
        {"--sms", "so many SMs: whole GPCs first, free ones before those of others", "N|N%", "-s"},
        {"--spread",
         "with -s: some of each GPC instead, for bandwidth; beside others it keeps less"},
        {.name = "--gpu",
         .help = "on this GPU, or several: 0,1; GPU-UUID; PCI address; all (default: those that "
                 "CUDA shows to COMMAND, or that the task has)",
         .value = "GPU",
         .short_name = "-i",
         .candidates = gpu_candidates},
        {"--exclusive", "none that another task has now; a later task is warned, and not refused",
         "", "-x"},

        {.name = "--pid",
         .help = "PID and its children, if they were started by nvtaskset",
         .value = "PID",
         .short_name = "-p",
         .place = Option::Place::later,
         .heading = "Tasks:",
         .candidates = process_candidates},
        {"--whole", "with -p: the whole GPU again"},
        {"--in-flight",
         "with -p: each process has at most N launches queued or running (0: any number)", "N"},
        {"--prepare", "run COMMAND with the whole GPU; -p can set TPCs later"},
        {.name = "--kernels",
         .help = "note each kernel that COMMAND launches, in a file there for each process; "
                 "'nvdebugctl record --kernels FOLDER' shows them",
         .value = "FOLDER",
         .candidates = folder_candidates},
        {"--no-mps", "tasks take turns, instead of running at the same time (NVIDIA's MPS)"},
        {.name = "--turn",
         .help = "at the same time as other tasks of turn N (1 to 9); turns take turns",
         .value = "N",
         .candidates = turns},
        {"--whole-count", "the program sees the GPU's number of SMs, not the partition's"},
        {"--best-effort", "let processes go on that cannot be kept to their TPCs"},
        {"--quit-mps", "end nvtaskset's MPS server, and with it its clients' work"},

        {.name = "--cdi",
         .help = "write that device's file; containers with it are kept to the TPCs",
         .value = "NAME",
         .heading = " "},
        {.name = "--cdi-folder",
         .help = "there (default: /run/cdi, until the next boot; /etc/cdi stays)",
         .value = "FOLDER",
         .candidates = folder_candidates},
        {"--check-image",
         "what the file has runtimes run: fails if CUDA cannot load the library in the image"},

        {.name = "--list",
         .help = "TPCs of the GPUs, and the tasks that have them",
         .short_name = "-l",
         .heading = " "},
        {"--probe", "with --list: find out again which TPCs there are"},
        {"--json", "with --list or -p", "", "-j"},
        {"--quiet", "errors only", "", "-q"},
    };
}

} // namespace

const nvdebug::cli::Program &program() {
    static const nvdebug::cli::Program all{
        .name = "nvtaskset",
        .version = NVTASKSET_VERSION,
        .help = "Keep a CUDA program, unmodified, to some TPCs of a GPU.",
        .verbs = {{.name = "",
                   .help = "",
                   .options = options(),
                   .more = nvdebug::cli::Verb::More::command,
                   .usage = {{"nvtaskset [OPTION]... COMMAND [ARGUMENT]...", "run it"},
                             {"nvtaskset [OPTION]... -p PID", "change, or show, a task that runs"},
                             {"nvtaskset [OPTION]... --cdi NAME",
                              "a device for containers: nvdebug.io/tpcs=NAME"},
                             {"nvtaskset --list",
                              "TPCs of the GPUs, and the tasks that have them"}}}},
        .exit_status =
            "Exit status: COMMAND's. If none was started: 0 done; 1 wrong usage; 2 refused, as "
            "another task has the TPCs; 3 never on this machine; 4 not all GPUs could be shown; 5 "
            "failed, may work later; 126, 127: COMMAND cannot be run, or is not there. 125: a "
            "process could not be kept to its TPCs and was ended.",
        .manual = "nvtaskset(1)",
        .has_help_word = false};
    return all;
}

} // namespace nvtaskset
