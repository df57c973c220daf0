// SPDX-License-Identifier: MIT OR GPL-2.0
#include "placement.hpp"

#include <algorithm>

#include "room.hpp"

namespace engine {
namespace {

/** Adds blocks to one SM. @param here the SM's kernels */
void fill(const SmShape &shape, const std::vector<Kernel> &kernels,
          const std::vector<std::size_t> &here, std::size_t sm, qos::Table &into) {
    Room room(shape);
    for (;;) {
        const std::size_t *least = nullptr;
        std::int64_t threads = 0;
        for (const std::size_t &k : here) {
            const std::int64_t has = into(sm, k) * kernels[k].need.threads;
            const bool fits = room.fits(kernels[k].need) &&
                              has + kernels[k].need.threads <=
                                  shape.threads / static_cast<std::int64_t>(here.size());
            if (fits && (!least || has < threads)) {
                least = &k;
                threads = has;
            }
        }
        if (!least)
            return;
        room.take(kernels[*least].need);
        into(sm, *least)++;
    }
}

} // namespace

qos::Table start_blocks(const GpuShape &shape, const std::vector<Kernel> &kernels,
                        const std::vector<bool> &qos) {
    qos::Table found(shape.sms, kernels.size());
    const auto others = static_cast<std::size_t>(std::ranges::count(qos, false));
    for (std::size_t sm = 0; sm < shape.sms; sm++) {
        std::vector<std::size_t> here;
        for (std::size_t k = 0, other = 0; k < kernels.size(); k++) {
            if (qos[k]) {
                here.push_back(k);
                continue;
            }
            if (sm >= other * shape.sms / others && sm < (other + 1) * shape.sms / others)
                here.push_back(k);
            other++;
        }
        fill(shape.sm, kernels, here, sm, found);
    }
    return found;
}

int most_blocks(const SmShape &shape, const Need &need) {
    int found = 0;
    for (Room room(shape); room.fits(need); room.take(need))
        found++;
    return found;
}

} // namespace engine
