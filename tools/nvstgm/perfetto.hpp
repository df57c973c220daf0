// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A schedule as a trace for Perfetto. */
#ifndef NVSTGM_PERFETTO_HPP
#define NVSTGM_PERFETTO_HPP

#include <string>

#include "stgm/trace.hpp"

namespace nvstgm {

/** Tracks of the cores, the copy engine and each set of SMs. A tick is shown as a microsecond. */
std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace);

} // namespace nvstgm

#endif
