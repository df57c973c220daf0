// SPDX-License-Identifier: MIT OR GPL-2.0
// Encodes Host's state in status words.
#pragma once

#include "base/bits.hpp"
#include "host/host.hpp"

namespace nvmodel {

/// The 3-bit CTX_STATUS / CHAN_STATUS code. LOAD and SAVE changed places with Ampere.
std::uint32_t context_code_turing(ContextState state);
std::uint32_t context_code_ampere(ContextState state);

/// ENGINE_STATUS and PBDMA_STATUS up to Turing, without the busy bit.
std::uint32_t status_word_turing(const ContextStatus &status);

/// ENGINE_STATUS0 and STATUS_SCHED from Ampere on, without the busy bit.
std::uint32_t status_word_ampere(const ContextStatus &status);

/// True if a channel of the engine's context is faulted (copy engines report it).
bool engine_faulted(const Host &host, const Engine &engine);

/// SUBMIT_INFO of Turing and newer.
std::uint32_t submit_info_word(const Runlist &runlist);

/// The part of RUNLIST_INFO that Turing and newer chips have in common.
std::uint32_t runlist_info_word(const Host &host, const Runlist &runlist);

/// PTR | TARGET | VALID of an instance block up to Turing; 0 if there is none.
std::uint32_t instance_word_turing(const Host &host, std::optional<std::size_t> channel);

/// The low and high word from Ampere on; 0 if there is none.
std::uint32_t instance_lo_ampere(const Host &host, std::optional<std::size_t> channel);
std::uint32_t instance_hi_ampere(const Host &host, std::optional<std::size_t> channel);

/// The channel whose instance block is shown for an engine, now and next.
std::optional<std::size_t> instance_on(const Engine &engine);
std::optional<std::size_t> instance_next(const Engine &engine);

} // namespace nvmodel
