// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What `watch` sees at one moment; the one source of the live view and of NDJSON. */
#ifndef NVDEBUGCTL_WATCH_SAMPLE_HPP
#define NVDEBUGCTL_WATCH_SAMPLE_HPP

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nvdebug/nvdebug.hpp"

namespace nvdebugctl {

using Lists = std::map<std::uint32_t, nvdebug::Result<nvdebug::Runlist>>;

struct Sample {
    std::uint64_t number; ///< from 1
    std::string time;     ///< UTC, ISO 8601 with milliseconds
    nvdebug::Result<std::vector<nvdebug::EngineState>> engines;
    Lists lists; ///< as of sample lists_number: they are read less often
    std::uint64_t lists_number;
};

class Sampler {
  public:
    /** @param list_pace lists are read in the first of so many samples. */
    Sampler(nvdebug::Gpu gpu, std::uint64_t list_pace);

    Sample take();

  private:
    void read_lists();

    nvdebug::Gpu gpu_;
    std::uint64_t list_pace_, taken_ = 0, lists_number_ = 0;
    Lists lists_;
};

/** What this sample's files would have told, had they been readable. */
std::vector<nvdebug::Error> errors_of(const Sample &sample);

} // namespace nvdebugctl

#endif
