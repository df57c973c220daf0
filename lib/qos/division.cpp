// SPDX-License-Identifier: MIT OR GPL-2.0
#include "division.hpp"

#include <utility>

namespace qos {
namespace {

/// A tenant that is behind is to catch up with the TPCs of its own for so long, and what it has
/// launched for others is waited for no longer.
constexpr Ns settle_time = 100 * ms;

} // namespace

/// A tenant that is looked at has all TPCs, and so has one that does not catch up with its own.
/// Until what it launches then has ended the others are held: else it would wait on their TPCs for
/// their kernels, and put the tenant behind again.
void Division::step(Ns now, const Seen &seen, const Pacer &pacer) {
    if (of_tenant()) {
        narrow_ = seen.tenant.launched;
        widened_at_ = now;
    }
    is_whole_ = seen.tenant.ended >= narrow_ || now - widened_at_ > settle_time;
    if (!pacer.holds_others())
        others_held_at_ = now;
    const bool alone = pacer.is_looking() || (seen.drained && now - others_held_at_ > settle_time);
    if (std::exchange(has_gpu_alone_, alone) && !alone) {
        wide_ = seen.tenant.launched;
        narrowed_at_ = now;
    }
    const bool awaits = split() && seen.tenant.ended < wide_ && now - narrowed_at_ < settle_time;
    holds_others_ = pacer.holds_others() || awaits;
    splitter_.step(now, seen.others_ended,
                   !seen.others_work    ? Splitter::Others::idle
                   : pacer.is_looking() ? Splitter::Others::look
                   : holds_others_      ? Splitter::Others::yield
                                        : Splitter::Others::launch);
}

} // namespace qos
