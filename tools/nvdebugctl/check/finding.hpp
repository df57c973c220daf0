// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What `check` asks of a GPU, and what it finds. */
#ifndef NVDEBUGCTL_CHECK_FINDING_HPP
#define NVDEBUGCTL_CHECK_FINDING_HPP

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "state.hpp"

namespace nvdebugctl {

/** By rising weight: of several, the last one counts. */
enum class Verdict {
    ok,        ///< tasks are as independent as the rule allows; nothing to be done
    unknown,   ///< it cannot be read, or no public source tells
    attention, ///< an analysis has to count with it: tasks wait for each other here
    trouble,   ///< it should not be so: work is stuck, or the state contradicts itself
};

const char *name_of(Verdict verdict);

struct Evidence {
    std::string file;   ///< `/proc/gpu0/runlist0_brief`
    std::string values; ///< what it says, in its own words where that is short
};

struct Finding {
    std::string question;
    std::string answer; ///< sentences
    Verdict verdict = Verdict::ok;
    std::vector<Evidence> evidence;

    void raise(Verdict to) { verdict = std::max(verdict, to); }
    void say(const std::string &sentence) { answer += (answer.empty() ? "" : " ") + sentence; }
};

struct Facts {
    State state;
    nvdebug::Result<nvdebug::CopyTopology> copy;
};

Facts read_facts(const nvdebug::Gpu &gpu);

/** Why answers are a part of one; what a chip does not have is no reason. */
std::vector<nvdebug::Error> errors_of(const Facts &facts);

/** A rule of Bakita and Anderson, RTAS 2024, asked about one GPU as it is now. */
struct Rule {
    const char *name; ///< `R1`
    Finding (*find)(const Facts &facts);
};

/** R1 to R8. */
std::span<const Rule> rules();

} // namespace nvdebugctl

#endif
