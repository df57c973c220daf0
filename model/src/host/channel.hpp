// SPDX-License-Identifier: MIT OR GPL-2.0
// A channel: Host's state of it, and the work that its owner has queued.
#pragma once

#include "base/time.hpp"
#include "memory/aperture.hpp"
#include "workload/workload.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace nvmodel {

/// PCCSR_CHANNEL_STATUS in the hardware's numbers (open-gpu-doc manuals/volta/gv100/
/// dev_fifo.ref.txt). Ampere+ shows the same status as separate bits.
enum class ChannelStatus : std::uint8_t {
    idle = 0x0,
    pending = 0x1,
    pending_ctx_reload = 0x2,
    pending_acquire = 0x3,
    pending_acq_ctx_reload = 0x4,
    on_pbdma = 0x5,
    on_pbdma_and_eng = 0x6,
    on_eng = 0x7,
    on_eng_pending_acquire = 0x8,
    on_eng_pending = 0x9,
    on_pbdma_ctx_reload = 0xa,
    on_pbdma_and_eng_ctx_reload = 0xb,
    on_eng_ctx_reload = 0xc,
    on_eng_pending_ctx_reload = 0xd,
    on_eng_pending_acq_ctx_reload = 0xe,
};

std::string_view name_of(ChannelStatus status);

/// The owner's side: the amounts of queued work and of finished work.
struct QueuedWork {
    Work what;
    unsigned engine = 0;   // index into Host's engines
    double done_ns = 0;    // engine time that it received
    double left_ns = 0;    // kind amount: work that is queued and not done
    bool acquired = false; // kind acquire: the semaphore was released
};

struct Channel {
    // Set by software.
    bool enabled = false;
    bool next = false;
    bool ctx_reload = false;
    bool bound = false;                // up to Turing
    unsigned own_runlist = 0;          // Kepler: read from PCCSR
    std::uint32_t instance_target = 0; // as written; up to Turing
    PhysicalAddress instance;
    PhysicalAddress userd;
    // Set by Host.
    bool pending = false;
    bool acquire_fail = false;
    bool pbdma_faulted = false;
    bool eng_faulted = false;
    std::optional<unsigned> pbdma;   // the PBDMA that has it loaded
    std::optional<unsigned> engine;  // index of the engine that has its work
    std::optional<unsigned> runlist; // the last list that named it
    std::optional<QueuedWork> work;

    [[nodiscard]] bool faulted() const { return pbdma_faulted || eng_faulted; }
    [[nodiscard]] bool busy() const { return pbdma.has_value() || engine.has_value(); }

    [[nodiscard]] bool waits_on_acquire() const {
        return work && work->what.kind == Work::Kind::acquire && !work->acquired;
    }

    /// Returns whether there is work in its pushbuffer.
    [[nodiscard]] bool has_work() const {
        if (!work)
            return false;
        switch (work->what.kind) {
        case Work::Kind::idle:
            return false;
        case Work::Kind::amount:
            return work->left_ns > 0;
        case Work::Kind::busy:
        case Work::Kind::acquire:
            return true;
        }
        return false;
    }

    [[nodiscard]] ChannelStatus status() const;
};

} // namespace nvmodel
