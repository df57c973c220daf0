// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What `check` and `doctor` find.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace nvdebugctl {

/// By rising weight: of several, the last one counts.
enum class Verdict {
    ok,        ///< nothing to be done; of a rule: tasks are as independent as it allows
    note,      ///< of a rule: tasks wait for each other, as GPUs are built and used
    unknown,   ///< it cannot be read, or no public source has it
    attention, ///< unusual: channels are disabled, or part of the module is out of reach
    trouble, ///< it should not be so: nothing works, work is stuck, or the state contradicts itself
};

const char *name_of(Verdict verdict);

struct Evidence {
    std::string file;   ///< `/proc/gpu0/runlist0_brief`
    std::string values; ///< the values found, verbatim where they are short
};

struct Finding {
    std::string subject; ///< a question, or what was looked at: `module`, `rights`, a PCI address
    Verdict verdict = Verdict::ok;
    std::string answer = {}; ///< sentences
    std::string fix = {};    ///< what to do; empty: nothing, or nothing that can be done
    std::vector<Evidence> evidence = {};

    void raise(Verdict to) { verdict = std::max(verdict, to); }
    void say(const std::string &sentence) { answer += (answer.empty() ? "" : " ") + sentence; }
};

} // namespace nvdebugctl
