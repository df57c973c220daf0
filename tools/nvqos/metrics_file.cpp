// SPDX-License-Identifier: MIT OR GPL-2.0
#include "metrics_file.hpp"

#include <unistd.h>

namespace nvqos {

MetricsFile::~MetricsFile() {
    if (is_there_)
        ::unlink(path_->c_str());
}

Outcome<void> MetricsFile::write() {
    if (!path_)
        return {};
    auto written = metrics_.write(*path_);
    is_there_ = is_there_ || written;
    return written;
}

} // namespace nvqos
