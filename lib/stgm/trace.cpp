// SPDX-License-Identifier: MIT OR GPL-2.0
#include "trace.hpp"

#include "lib/base/printable.hpp"

namespace stgm {

const char *name_of(What what) {
    switch (what) {
    case What::release:
        return "release";
    case What::run:
        return "run";
    case What::stop:
        return "stop";
    case What::segment_begin:
        return "segment_begin";
    case What::segment_end:
        return "segment_end";
    case What::copy_ask:
        return "copy_ask";
    case What::copy_begin:
        return "copy_begin";
    case What::copy_end:
        return "copy_end";
    case What::launch:
        return "launch";
    case What::kernel_begin:
        return "kernel_begin";
    case What::kernel_end:
        return "kernel_end";
    case What::finish:
        return "finish";
    case What::overrun:
        return "overrun";
    case What::stall:
        return "stall";
    }
    return "";
}

std::string to_text(const Trace &trace, const TaskSet &set) {
    std::string text;
    for (const Record &record : trace) {
        const bool whole_job = record.what == What::release || record.what == What::finish;
        text += std::to_string(record.at) + " " +
                nvdebug::base::printable(set.tasks[record.task].name) + "#" +
                std::to_string(record.job) + ": " + name_of(record.what) +
                (whole_job ? "" : " (segment " + std::to_string(record.segment) + ")") + "\n";
    }
    return text;
}

} // namespace stgm
