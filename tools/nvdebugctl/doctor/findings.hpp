// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What the facts mean, and what to do about it. */
#ifndef NVDEBUGCTL_DOCTOR_FINDINGS_HPP
#define NVDEBUGCTL_DOCTOR_FINDINGS_HPP

#include <string>
#include <vector>

#include "doctor/facts.hpp"

namespace nvdebugctl::doctor {

enum class Verdict {
    ok,
    unknown,   ///< this machine does not say
    attention, ///< part of what the module offers is not to be had like this
    trouble,   ///< nothing works until this is mended
};

struct Finding {
    std::string subject; ///< `module`, `signature`, `lockdown`, `rights`, … or a PCI address
    Verdict verdict;
    std::string sentence;
    std::string fix; ///< empty if there is nothing to do, or nothing that can be done
};

/** In the order in which to mend things. */
std::vector<Finding> judge(const Facts &facts);

const char *name_of(Verdict verdict);

} // namespace nvdebugctl::doctor

#endif
