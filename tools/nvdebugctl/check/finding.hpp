// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The type of the findings of `check` and `doctor`.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace nvdebugctl {

/// The verdicts by rising weight. If there are several reasons, the heaviest verdict counts.
enum class Verdict {
    ok,      ///< nothing has to be done; for a rule: tasks are as independent as it allows
    note,    ///< only for a rule: tasks wait for each other, as usual on GPUs
    unknown, ///< the fact cannot be read, or no public source has it
    /// Something is unusual: channels are disabled, or part of the module is out of reach.
    attention,
    trouble, ///< something is wrong: nothing works, work is stuck, or the state contradicts itself
};

const char *name_of(Verdict verdict);

struct Evidence {
    std::string file;   ///< `/proc/gpu0/runlist0_brief`
    std::string values; ///< the values that were found, verbatim if they are short
};

struct Finding {
    /// A question, or the thing that was examined: `module`, `rights`, a PCI address.
    std::string subject;
    Verdict verdict = Verdict::ok;
    std::string answer = {}; ///< sentences
    std::string fix = {};    ///< the action that helps; empty: none is needed, or none helps
    std::vector<Evidence> evidence = {};

    void raise(Verdict to) { verdict = std::max(verdict, to); }
    void say(const std::string &sentence) { answer += (answer.empty() ? "" : " ") + sentence; }
};

} // namespace nvdebugctl
