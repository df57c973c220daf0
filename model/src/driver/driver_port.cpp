// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/driver_port.hpp"

#include "regs/fifo.hpp"
#include "regs/runlist_gb202.hpp"
#include "regs/usermode.hpp"

#include <stdexcept>

namespace nvmodel {

using namespace regs;

void driver_write(Chip &chip, std::uint32_t offset, std::uint32_t value) {
    if (chip.write(offset, value) != Answer::done)
        throw std::logic_error("the driver wrote a register that the model lacks");
}

namespace {

/// Binds and enables channels in PCCSR.
class PccsrPort : public DriverPort {
  public:
    explicit PccsrPort(Chip &chip) : chip_(chip) {}

    void open_doorbells() override {}

    void bind(unsigned, unsigned channel, PhysicalAddress instance) override {
        write(pccsr::range_begin + pccsr::stride * channel + pccsr::channel_inst,
              pccsr::inst_ptr.put(low32(instance.address >> 12)) |
                  pccsr::inst_target.put(target_of(instance.aperture)) | pccsr::inst_bind.mask());
    }

    void set_enabled(unsigned, unsigned channel, bool enabled) override {
        write(pccsr::range_begin + pccsr::stride * channel + pccsr::channel, switch_word(enabled));
    }

  protected:
    static std::uint32_t switch_word(bool enabled) {
        return enabled ? pccsr::enable_set.mask() : pccsr::enable_clr.mask();
    }
    void write(std::uint32_t offset, std::uint32_t value) { driver_write(chip_, offset, value); }
    Chip &chip() { return chip_; }

  private:
    Chip &chip_;
};

/// Kepler..Pascal: lists share a submit port; Host sees the write to USERD, so nothing is rung.
class SharedPort : public PccsrPort {
  public:
    using PccsrPort::PccsrPort;

    void submit(unsigned runlist, PhysicalAddress base, unsigned entries) override {
        write(fifo::runlist_base, fifo::runlist_base_ptr.put(low32(base.address >> 12)) |
                                      fifo::runlist_base_target.put(target_of(base.aperture)));
        write(fifo::runlist, fifo::runlist_length.put(entries) | fifo::runlist_id.put(runlist));
    }

    void ring(unsigned runlist, unsigned channel) override {
        chip().host().ring(*chip().host().channel_index(runlist, channel));
    }
};

/// Kepler: a channel has a register for its runlist, too.
class KeplerPort final : public SharedPort {
  public:
    using SharedPort::SharedPort;

    void set_enabled(unsigned runlist, unsigned channel, bool enabled) override {
        write(pccsr::range_begin + pccsr::stride * channel + pccsr::channel,
              switch_word(enabled) | pccsr::runlist.put(runlist));
    }
};

/// Volta: a doorbell announces work.
class VoltaPort final : public SharedPort {
  public:
    using SharedPort::SharedPort;

    void ring(unsigned, unsigned channel) override {
        write(usermode::range_begin + usermode::doorbell, channel);
    }
};

/// Turing: submit registers per runlist, doorbells behind a gate.
class TuringPort final : public PccsrPort {
  public:
    using PccsrPort::PccsrPort;

    void open_doorbells() override {
        write(usermode::turing_virtual_channel_cfg,
              usermode::vcfg_mask.put(0xfff) | usermode::vcfg_pending_enable.mask());
    }

    void submit(unsigned runlist, PhysicalAddress base, unsigned entries) override {
        write(fifo::tu_base_lo + 16 * runlist,
              low32(base.address) | fifo::tu_base_lo_target.put(target_of(base.aperture)));
        write(fifo::tu_base_hi + 16 * runlist, high32(base.address));
        write(fifo::tu_submit + 16 * runlist, runlist::submit_length.put(entries));
    }

    void ring(unsigned runlist, unsigned channel) override {
        write(usermode::range_begin + usermode::doorbell,
              usermode::turing_chid.put(channel) | usermode::turing_runlist.put(runlist));
    }
};

/// Ampere and newer: a block and a channel RAM per runlist.
class AmperePort final : public DriverPort {
  public:
    AmperePort(const Board &board, Chip &chip) : board_(board), chip_(chip) {}

    void open_doorbells() override {
        const std::uint32_t all_channels = board_.generation->gate_counts
                                               ? runlist::virtual_channel_cfg_reset_gb10b
                                               : runlist::virtual_channel_cfg_reset;
        for (const RunlistRow &row : board_.runlists)
            write(row.id, runlist::virtual_channel_cfg,
                  all_channels | usermode::vcfg_pending_enable.mask());
    }

    void bind(unsigned, unsigned, PhysicalAddress) override {} // the runlist entry binds it

    void set_enabled(unsigned runlist, unsigned channel, bool enabled) override {
        driver_write(chip_, row(runlist).chram + chram::stride * channel,
                     enabled ? chram::update_enable : chram::update_disable);
    }

    void submit(unsigned runlist, PhysicalAddress base, unsigned entries) override {
        write(runlist, runlist::submit_base_lo,
              low32(base.address) | runlist::submit_base_lo_target.put(target_of(base.aperture)));
        write(runlist, runlist::submit_base_hi, high32(base.address));
        write(runlist, runlist::submit, runlist::submit_length.put(entries));
    }

    void ring(unsigned runlist, unsigned channel) override {
        driver_write(chip_, usermode::vf_range_begin + usermode::doorbell,
                     usermode::ampere_vector.put(channel) | usermode::ampere_runlist.put(runlist) |
                         (board_.generation->doorbell == Doorbell::gb20x
                              ? usermode::gb20x_runlist_enable.mask()
                              : 0));
    }

  private:
    /// Writes a register of a runlist's block, by GA100's offset.
    void write(unsigned runlist, std::uint32_t at, std::uint32_t value) {
        const bool moved = board_.generation->runlist_layout == RunlistLayout::gb202;
        driver_write(chip_, row(runlist).base + (moved ? runlist::to_gb202(at).value() : at),
                     value);
    }
    [[nodiscard]] const RunlistRow &row(unsigned runlist) const {
        return *board_.find_runlist(runlist);
    }

    const Board &board_;
    Chip &chip_;
};

} // namespace

std::unique_ptr<DriverPort> DriverPort::make(const Board &board, Chip &chip) {
    switch (board.generation->submit) {
    case SubmitScheme::shared_port:
        if (board.generation->kepler_fifo_registers)
            return std::make_unique<KeplerPort>(chip);
        if (board.generation->doorbell == Doorbell::none)
            return std::make_unique<SharedPort>(chip);
        return std::make_unique<VoltaPort>(chip);
    case SubmitScheme::pfifo_array:
        return std::make_unique<TuringPort>(chip);
    case SubmitScheme::block:
        return std::make_unique<AmperePort>(board, chip);
    }
    return nullptr;
}

} // namespace nvmodel
