// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "blocks/runlist.hpp"
#include "blocks/timer.hpp"
#include "board/board.hpp"
#include "host/host.hpp"

#include <array>
#include <functional>
#include <vector>

namespace nvmodel {

/// Decodes a write to a doorbell. Each generation with doorbells has a decoder.
class DoorbellDecoder {
  public:
    virtual ~DoorbellDecoder() = default;
    virtual void ring(std::uint32_t value) = 0;
};

/// Volta: the value is the channel id.
class VoltaDoorbell final : public DoorbellDecoder {
  public:
    explicit VoltaDoorbell(Host &host) : host_(host) {}
    void ring(std::uint32_t value) override;

  private:
    Host &host_;
};

/// NV_CTRL on Turing: the gate that a function's doorbells pass.
class TuringDoorbellGate final : public RegisterBlock {
  public:
    TuringDoorbellGate();
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;
    /// The configuration of the real function.
    [[nodiscard]] std::uint32_t physical() const { return cfg_[0]; }

  private:
    std::array<std::uint32_t, 64> cfg_;
};

/// Turing: channel and runlist id; ignored if any other bit is set or the gate is closed.
class TuringDoorbell final : public DoorbellDecoder {
  public:
    TuringDoorbell(Host &host, const TuringDoorbellGate &gate) : host_(host), gate_(gate) {}
    void ring(std::uint32_t value) override;

  private:
    Host &host_;
    const TuringDoorbellGate &gate_;
};

/// Ampere+: vector and runlist id; the runlist's block has the gate.
class RunlistDoorbell : public DoorbellDecoder {
  public:
    explicit RunlistDoorbell(std::vector<RunlistBlock *> runlists)
        : runlists_(std::move(runlists)) {}

  protected:
    void ring_vector(std::uint32_t value);

  private:
    std::vector<RunlistBlock *> runlists_;
};

/// Ampere..GB10x: with bit 31 set the write is not for Host.
class AmpereDoorbell final : public RunlistDoorbell {
  public:
    using RunlistDoorbell::RunlistDoorbell;
    void ring(std::uint32_t value) override;
};

/// GB20x: with bit 30 set the write is for Host.
class Gb20xDoorbell final : public RunlistDoorbell {
  public:
    using RunlistDoorbell::RunlistDoorbell;
    void ring(std::uint32_t value) override;
};

/// The page that user mode may map: time and a doorbell. Undefined registers read 0.
class UsermodeBlock final : public RegisterBlock {
  public:
    UsermodeBlock(std::uint32_t base, const TimerBlock &timer, DoorbellDecoder &doorbell)
        : base_(base), timer_(timer), doorbell_(doorbell) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    std::uint32_t base_;
    const TimerBlock &timer_;
    DoorbellDecoder &doorbell_;
};

/// NV_CTRL on Ampere+: another place of function 0's doorbell.
class CtrlDoorbellBlock final : public RegisterBlock {
  public:
    explicit CtrlDoorbellBlock(DoorbellDecoder &doorbell) : doorbell_(doorbell) {}
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    DoorbellDecoder &doorbell_;
};

} // namespace nvmodel
