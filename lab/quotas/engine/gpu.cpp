// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu.hpp"

namespace engine {

Gpu::Gpu(const GpuShape &shape, std::vector<Kernel> kernels, std::uint64_t seed,
         qos::Machine *machine)
    : stage_{.kernels = std::move(kernels),
             .live = {},
             .memory = Memory(shape.memory),
             .machine = machine},
      allotted_(shape.sms, stage_.kernels.size()) {
    stage_.live.unused.resize(stage_.kernels.size());
    for (std::size_t sm = 0; sm < shape.sms; sm++)
        sms_.emplace_back(sm, shape.sm, stage_.kernels.size());
    for (std::size_t k = 0; k < stage_.kernels.size(); k++)
        grids_.emplace_back(static_cast<std::uint8_t>(k), seed);
}

void Gpu::allot(const qos::Table &blocks) {
    allotted_ = blocks;
    for (std::size_t sm = 0; sm < sms_.size(); sm++) {
        // Counters and blocks may have changed, so the SM looks again.
        sms_[sm].wake(now_);
        fill(sm);
    }
}

void Gpu::evict(std::size_t sm, std::size_t kernel, int count) {
    sms_[sm].evict(stage_, kernel, count, now_);
    if (stage_.machine && sms_[sm].blocks(kernel) == 0)
        stage_.machine->leave(sm, kernel);
}

void Gpu::report_absent() {
    for (std::size_t sm = 0; sm < sms_.size(); sm++)
        for (std::size_t k = 0; k < kernels(); k++)
            if (allotted_(sm, k) > 0 && sms_[sm].blocks(k) == 0)
                stage_.machine->leave(sm, k);
}

/** Places blocks on an SM as far as they are allotted and fit. */
void Gpu::fill(std::size_t sm) {
    for (std::size_t k = 0; k < kernels(); k++) {
        while (grids_[k].has_more() && sms_[sm].blocks(k) < allotted_(sm, k) &&
               sms_[sm].room().fits(kernel(k).need)) {
            if (stage_.machine && sms_[sm].blocks(k) == 0)
                stage_.machine->come_back(sm, k);
            sms_[sm].place(stage_, grids_[k].take(stage_.live, kernel(k)), now_);
        }
    }
}

/** Places a block on each SM in turn, until no block fits any more. */
void Gpu::launch() {
    for (std::size_t k = 0; k < kernels(); k++) {
        if (grids_[k].launch_at() > now_)
            continue;
        grids_[k].launch(kernel(k));
        for (bool placed = true; placed;) {
            placed = false;
            for (std::size_t sm = 0; sm < sms_.size() && grids_[k].has_more(); sm++) {
                if (sms_[sm].blocks(k) >= allotted_(sm, k) || !sms_[sm].room().fits(kernel(k).need))
                    continue;
                if (stage_.machine && sms_[sm].blocks(k) == 0)
                    stage_.machine->come_back(sm, k);
                sms_[sm].place(stage_, grids_[k].take(stage_.live, kernel(k)), now_);
                placed = true;
            }
        }
    }
}

void Gpu::cycle() {
    launch();
    for (std::size_t sm = 0; sm < sms_.size(); sm++) {
        if (sms_[sm].wakes_at() > now_)
            continue;
        sms_[sm].cycle(stage_, now_);
        if (!sms_[sm].ended().empty() || !sms_[sm].left().empty())
            take_out(sm);
    }
    if (stage_.machine)
        stage_.machine->end_cycle();
    now_++;
}

/** Gives the room of blocks that have ended or left an SM to other blocks. */
void Gpu::take_out(std::size_t sm) {
    Sm &one = sms_[sm];
    bool saved = false;
    for (const std::int32_t number : one.ended()) {
        const std::size_t k = stage_.live.at(number).kernel;
        grids_[k].ended(kernel(k), now_);
        stage_.live.remove(number);
    }
    for (const std::int32_t number : one.left()) {
        grids_[stage_.live.at(number).kernel].save(number);
        saved = true;
    }
    fill(sm);
    // A saved block may be placed on any SM.
    for (std::size_t other = 0; saved && other < sms_.size(); other++)
        fill(other);
    if (stage_.machine)
        for (const std::int32_t number : one.ended())
            if (const std::size_t k = stage_.live.at(number).kernel; one.blocks(k) == 0)
                stage_.machine->leave(sm, k);
    one.ended().clear();
    one.left().clear();
    one.wake(now_ + 1);
}

void Gpu::skip(std::int64_t end) {
    std::int64_t to = end;
    for (const Sm &sm : sms_)
        to = std::min(to, sm.wakes_at());
    for (const Grid &grid : grids_)
        to = std::min(to, grid.launch_at());
    if (to <= now_)
        return;
    now_ += stage_.machine ? stage_.machine->pass(to - now_) : to - now_;
}

std::int64_t Gpu::used(std::size_t kernel) const {
    std::int64_t all = 0;
    for (const Sm &sm : sms_)
        all += sm.used(kernel);
    return all;
}

} // namespace engine
