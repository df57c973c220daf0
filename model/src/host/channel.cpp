// SPDX-License-Identifier: MIT OR GPL-2.0
#include "host/channel.hpp"

#include <array>

namespace nvmodel {

std::string_view name_of(ChannelStatus status) {
    static constexpr std::array<std::string_view, 15> names{
        "IDLE",
        "PENDING",
        "PENDING_CTX_RELOAD",
        "PENDING_ACQUIRE",
        "PENDING_ACQ_CTX_RELOAD",
        "ON_PBDMA",
        "ON_PBDMA_AND_ENG",
        "ON_ENG",
        "ON_ENG_PENDING_ACQUIRE",
        "ON_ENG_PENDING",
        "ON_PBDMA_CTX_RELOAD",
        "ON_PBDMA_AND_ENG_CTX_RELOAD",
        "ON_ENG_CTX_RELOAD",
        "ON_ENG_PENDING_CTX_RELOAD",
        "ON_ENG_PENDING_ACQ_CTX_RELOAD",
    };
    return names[static_cast<std::size_t>(status)];
}

ChannelStatus Channel::status() const {
    using S = ChannelStatus;
    const bool acquiring = pending && acquire_fail;
    if (pbdma && engine)
        return ctx_reload ? S::on_pbdma_and_eng_ctx_reload : S::on_pbdma_and_eng;
    if (pbdma)
        return ctx_reload ? S::on_pbdma_ctx_reload : S::on_pbdma;
    if (engine && acquiring)
        return ctx_reload ? S::on_eng_pending_acq_ctx_reload : S::on_eng_pending_acquire;
    if (engine && pending)
        return ctx_reload ? S::on_eng_pending_ctx_reload : S::on_eng_pending;
    if (engine)
        return ctx_reload ? S::on_eng_ctx_reload : S::on_eng;
    if (acquiring)
        return ctx_reload ? S::pending_acq_ctx_reload : S::pending_acquire;
    if (pending)
        return ctx_reload ? S::pending_ctx_reload : S::pending;
    return S::idle;
}

} // namespace nvmodel
