// SPDX-License-Identifier: MIT OR GPL-2.0
#include "option_table.hpp"

namespace nvtaskset {
namespace {

constexpr Option table[] = {
    {'t', "tpcs", "LIST", "these: 0-15,20", "Which TPCs (two SMs each):"},
    {'g', "gpcs", "LIST", "all of these GPCs: 0,2"},
    {'s', "sms", "N|N%", "so many SMs: whole GPCs first, free ones before those of others"},
    {opt_spread, "spread", "",
     "with -s: some of each GPC instead, for bandwidth; beside others it keeps less"},
    {'i', "gpu", "GPU",
     "on this GPU, or several: 0,1; GPU-UUID; PCI address; all\n"
     "(default: those that CUDA shows to COMMAND, or that the task has)"},
    {'x', "exclusive", "", "none that another task has"},

    {'p', "pid", "", "PID and its children, if they were started by nvtaskset", "Tasks:"},
    {opt_whole, "whole", "", "with -p: the whole GPU again"},
    {opt_in_flight, "in-flight", "N",
     "with -p: each process has at most N launches queued or running (0: any number)"},
    {opt_prepare, "prepare", "", "run COMMAND with the whole GPU; -p can set TPCs later"},
    {opt_no_mps, "no-mps", "",
     "tasks take turns, instead of running at the same time (NVIDIA's MPS)"},
    {opt_turn, "turn", "N", "at the same time as other tasks of turn N (1 to 9); turns take turns"},
    {opt_whole_count, "whole-count", "",
     "the program sees the GPU's number of SMs, not the partition's"},
    {opt_best_effort, "best-effort", "", "let processes go on that cannot be kept to their TPCs"},
    {opt_quit_mps, "quit-mps", "", "end nvtaskset's MPS server, and with it its clients' work"},

    {opt_cdi, "cdi", "NAME", "write that device's file; containers with it are kept to the TPCs"},
    {opt_cdi_folder, "cdi-folder", "FOLDER",
     "there (default: /run/cdi, until the next boot; /etc/cdi stays)"},
    {opt_check_image, "check-image", "",
     "what the file has runtimes run: fails if CUDA cannot load the library in the image"},

    {'l', "list", "", "TPCs of the GPUs, and the tasks that have them", ""},
    {opt_probe, "probe", "", "with --list: find out again which TPCs there are"},
    {'j', "json", "", "with --list or -p"},
    {'q', "quiet", "", "errors only"},
    {'h', "help", "", "this"},
    {'V', "version", "", "which version this is"},
};

std::string lines_of(const Option &option) {
    constexpr std::size_t column = 21;
    std::string text = option.has_letter()
                           ? std::string("  -") + static_cast<char>(option.id) + ", "
                           : std::string("      ");
    text += std::string("--") + option.name;
    if (option.takes_value())
        text += std::string(" ") + option.value;
    text.append(text.size() + 2 > column ? 2 : column - text.size(), ' ');
    for (const char *at = option.help; *at; at++)
        text += *at == '\n' ? "\n" + std::string(column, ' ') : std::string(1, *at);
    return text + "\n";
}

} // namespace

std::span<const Option> option_table() {
    return table;
}

std::string help() {
    std::string text = R"(Keep a CUDA program, unmodified, to some TPCs of a GPU.

  nvtaskset [OPTION]... COMMAND [ARGUMENT]...   run it
  nvtaskset [OPTION]... -p PID                  change, or show, a task that runs
  nvtaskset [OPTION]... --cdi NAME              a device for containers: nvdebug.io/tpcs=NAME
  nvtaskset --list                              TPCs of the GPUs, and the tasks that have them
)";
    for (const Option &option : table) {
        if (option.heading)
            text += std::string("\n") + option.heading + (*option.heading ? "\n" : "");
        text += lines_of(option);
    }
    return text + R"(
Exit status: COMMAND's. If none was started: 0 done; 1 wrong usage; 2 failed; 3 this GPU or
driver does not support it; 4 not all GPUs could be shown; 126, 127: COMMAND cannot be run, or is not
there. 125: a process could not be kept to its TPCs and was ended. Manual: nvtaskset(1)
)";
}

} // namespace nvtaskset
