// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The quota schemes of Wang et al., *Quality of Service Support for Fine-Grained Sharing on
/// GPUs*, ISCA 2017 (Section 3.4). docs/quotas.md describes them, and docs/qos-measured.md what
/// they mean for turns on a GPU.
#pragma once

namespace qos {

enum class Scheme {
    naive,    ///< Section 3.4.1: a fixed quota; the rest of it is dropped
    history,  ///< Section 3.4.2: the quota grows by all instructions missed since the launch
    elastic,  ///< Section 3.4.3: all kernels get a new quota as soon as all have used theirs up
    rollover, ///< Section 3.4.4: QoS kernels keep what is left of their quotas
    rollover_time, ///< Section 4.5: rollover, and other kernels wait while a QoS kernel has quota
                   ///< left
};

/// Returns whether QoS kernels keep the rest of a quota at the end of an epoch.
constexpr bool rolls_over(Scheme scheme) {
    return scheme == Scheme::rollover || scheme == Scheme::rollover_time;
}

} // namespace qos
