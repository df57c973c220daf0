// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/gpu.hpp"

#include "base/bits.hpp"
#include "base/error.hpp"
#include "regs/pbus.hpp"

#include <utility>

namespace nvmodel {
namespace {

/// Returns the violation that a register's answer stands for, where the answer is not Answer::done.
Violation violation_of(Answer answer) {
    switch (answer) {
    case Answer::write_only:
        return Violation::write_only;
    case Answer::read_only:
        return Violation::read_only;
    case Answer::side_effect:
        return Violation::side_effect;
    default:
        return Violation::unmodelled;
    }
}

constexpr std::string_view mode_mig = "mig";
constexpr std::string_view mode_cc = "cc";

bool has_mig(const Generation &generation) {
    return generation.mig_arbiter || generation.mig_scratch.follows;
}

bool has_confidential(const Generation &generation) {
    return generation.confidential != ConfidentialRegister::none;
}

Memory memory_of(const Board &board) {
    const MemoryForm form = board.generation->memory;
    return form == MemoryForm::video ? Memory(board.video_bytes)
                                     : Memory::unified(form == MemoryForm::unified_as_video);
}

} // namespace

Gpu::Gpu(Board board, const Workload &workload, std::optional<SystemMemoryRange> system_memory)
    : PciFunction(PciConfig(board)), board_(std::move(board)), system_memory_(system_memory),
      plan_(fit(workload)), memory_(memory_of(board_)),
      chip_(std::make_unique<Chip>(board_, memory_, modes_)) {}

Plan Gpu::fit(const Workload &workload) const {
    Plan plan = make_plan(workload, board_);
    if (plan.needs_system_memory() && !system_memory_)
        throw ConfigError("workload " + plan.name +
                          " keeps structures in system memory; give it some with --sysmem");
    return plan;
}

void Gpu::reset_chip() {
    driver_.reset();
    corruption_.forget();
    memory_.clear_video();
    chip_ = std::make_unique<Chip>(board_, memory_, modes_);
}

void Gpu::reset() {
    config_.reset();
    asleep_ = false;
    reset_chip();
}

void Gpu::start() {
    if (driver_)
        throw ConfigError("the workload was started before");
    try {
        driver_ = std::make_unique<Driver>(board_, plan_, *chip_, memory_, system_memory_);
    } catch (const ConfigError &) {
        reset_chip();
        throw;
    }
}

void Gpu::restart(const Workload *other) {
    if (other != nullptr) {
        Plan plan = fit(*other);
        reset_chip(); // the old chip's driver refers to the plan
        plan_ = std::move(plan);
    } else {
        reset_chip();
    }
    start();
}

std::vector<ChannelProgress> Gpu::progress() const {
    std::vector<ChannelProgress> all;
    const Host &host = chip_->host();
    for (const PlannedChannel &planned : plan_.channels) {
        const auto index = host.channel_index(planned.runlist, planned.id);
        const Channel &channel = host.channel(*index);
        ChannelProgress &entry = all.emplace_back();
        entry.runlist = planned.runlist;
        if (planned.tsg)
            entry.tsg = plan_.tsgs[*planned.tsg].id;
        entry.channel = planned.id;
        entry.task = planned.task;
        entry.engine = to_string(planned.engine);
        entry.enabled = channel.enabled;
        entry.progress_us =
            channel.work ? channel.work->done_ns / static_cast<double>(ns_per_us) : 0;
        entry.state = name_of(channel.status());
    }
    return all;
}

bool Gpu::set_mode(std::string_view name, bool on) {
    const Generation &generation = *board_.generation;
    if (name == mode_mig && has_mig(generation))
        modes_.mig = on;
    else if (name == mode_cc && has_confidential(generation))
        modes_.confidential = on;
    else
        return false;
    return true;
}

std::vector<std::pair<std::string_view, bool>> Gpu::modes() const {
    std::vector<std::pair<std::string_view, bool>> all;
    if (has_mig(*board_.generation))
        all.emplace_back(mode_mig, modes_.mig);
    if (has_confidential(*board_.generation))
        all.emplace_back(mode_cc, modes_.confidential);
    return all;
}

const Driver &Gpu::driver() const {
    if (!driver_)
        throw ConfigError("the workload is not started");
    return *driver_;
}

Driver &Gpu::driver() {
    static_cast<void>(std::as_const(*this).driver());
    return *driver_;
}

std::vector<Corruption::Flip> Gpu::corrupt(std::uint64_t seed, unsigned flips) {
    return corruption_.flip(memory_, driver().structures(), seed, flips);
}

void Gpu::resubmit(unsigned runlist) {
    if (!driver_)
        throw ConfigError("the workload is not started");
    driver_->resubmit(runlist);
}

unsigned Gpu::rotate(unsigned runlist) {
    if (!driver_)
        throw ConfigError("the workload is not started");
    return driver_->rotate(runlist);
}

// --- accesses ---

/// Begins an access and lets time pass. Returns false if the GPU has gone.
bool Gpu::on_the_bus() {
    const Faults::Mood mood = faults_.next_access();
    if (!mood.frozen)
        chip_->host().advance(bar_access_ns);
    return !mood.gone;
}

/// Returns false if nothing answers.
bool Gpu::begin(const Access &access) {
    const bool there = on_the_bus();
    count(access);
    if (!there)
        return false;
    if (asleep())
        violations_.note(access, Violation::asleep);
    return !asleep();
}

std::uint64_t Gpu::bar_read(Bar bar, std::uint64_t offset, unsigned size) {
    const Access access{bar, offset, size, false};
    if (!begin(access))
        return ones(size);
    const std::uint64_t value =
        faults_.read(access, block_of(access), [&] { return read_device(access); });
    if (is_pramin(access))
        driver_interferes();
    return value & ones(size);
}

void Gpu::bar_write(Bar bar, std::uint64_t offset, std::uint64_t value, unsigned size) {
    const Access access{bar, offset, size, true};
    if (!begin(access) || faults_.drops(access))
        return;
    write_device(access, value & ones(size));
}

std::uint32_t Gpu::direct_read(std::uint64_t address) {
    const Access access{Bar::framebuffer, address, 4, false};
    if (!on_the_bus() || asleep())
        return static_cast<std::uint32_t>(ones(4));
    const std::uint64_t value = faults_.read(access, name_of(access.bar), [&] {
        return memory_.read_value({Aperture::video, address}, 4)
            .value_or(regs::pri::memory_problem);
    });
    driver_interferes();
    return static_cast<std::uint32_t>(value);
}

void Gpu::direct_write(std::uint64_t address, std::uint32_t value) {
    const Access access{Bar::framebuffer, address, 4, true};
    if (!on_the_bus() || asleep() || faults_.drops(access))
        return;
    if (!memory_.write_value({Aperture::video, address}, value, 4))
        violations_.note(access, Violation::memory);
}

/// Lets the driver act as the faults script it.
void Gpu::driver_interferes() {
    if (!driver_)
        return;
    const auto if_it_can = [](const auto &submit) {
        try {
            submit();
        } catch (const ConfigError &) {
            // The workload has no such list, so the fault has nothing to move.
        }
    };
    faults_.after_pramin_read({
        .resubmit = [&](unsigned runlist) { if_it_can([&] { driver_->resubmit(runlist); }); },
        .rotate = [&](unsigned runlist) { if_it_can([&] { driver_->rotate(runlist); }); },
        .move_window = [this] { driver_->move_window(); },
    });
}

bool Gpu::is_pramin(const Access &access) const {
    using namespace regs::pramin;
    return board_.generation->pramin && access.bar == Bar::registers &&
           access.offset >= range_begin && access.offset < range_end;
}

/// Returns the memory behind an access; nothing for registers and for addresses that are not
/// translated.
std::optional<PhysicalAddress> Gpu::behind(const Access &access) const {
    const BusState &bus = chip_->bus();
    switch (access.bar) {
    case Bar::registers:
        return is_pramin(access) ? bus.behind_window(static_cast<std::uint32_t>(access.offset) -
                                                     regs::pramin::range_begin)
                                 : std::nullopt;
    case Bar::framebuffer:
        return chip_->instance_spaces().behind_bar(bus.bar1, access.offset, board_.bar1.modelled);
    case Bar::instance:
        return chip_->instance_spaces().behind_bar(bus.bar2, access.offset, board_.bar2.modelled);
    }
    return std::nullopt;
}

std::string_view Gpu::block_of(const Access &access) const {
    if (access.bar != Bar::registers)
        return name_of(access.bar);
    const AddressMap::Range *const range = chip_->find(access.offset);
    return name_of(range != nullptr ? range->name : BlockName::other);
}

void Gpu::count(const Access &access) {
    const auto memory = behind(access);
    statistics_.count(access, block_of(access),
                      {.memory = memory.has_value(),
                       .bar = access.bar,
                       .physical = memory.value_or(PhysicalAddress{}),
                       .offset = access.offset});
}

std::uint64_t Gpu::read_device(const Access &access) {
    if (access.bar != Bar::registers || is_pramin(access))
        return read_memory(access);
    return read_register(access);
}

void Gpu::write_device(const Access &access, std::uint64_t value) {
    if (access.bar != Bar::registers || is_pramin(access))
        write_memory(access, value);
    else
        write_register(access, value);
}

// PRAMIN takes 8, 16 and 32-bit accesses; BAR1 and BAR2 any.

std::uint64_t Gpu::read_memory(const Access &access) {
    if (is_pramin(access) && (access.size > 4 || access.offset % access.size != 0))
        violations_.note(access, Violation::size);
    const auto at = behind(access);
    const auto value = at ? memory_.read_value(*at, access.size) : std::nullopt;
    if (value)
        return *value;
    violations_.note(access, Violation::memory);
    if (!at && !is_pramin(access))
        return regs::pri::vm_fault;
    return at && !memory_.in_video(*at) ? ones(access.size) : regs::pri::memory_problem;
}

void Gpu::write_memory(const Access &access, std::uint64_t value) {
    if (is_pramin(access) && (access.size > 4 || access.offset % access.size != 0))
        violations_.note(access, Violation::size);
    const auto at = behind(access);
    if (!at || !memory_.write_value(*at, value, access.size))
        violations_.note(access, Violation::memory);
}

// Registers are read and written whole: 32 bits, aligned. An access of 64 bits is two of these, the
// lower one first. Other reads give the bytes asked for, other writes do nothing; both are noted as
// violations.

bool is_two_registers(const Access &access) {
    return access.size == 8 && access.offset % 4 == 0;
}

Access half_of(const Access &access, unsigned half) {
    return {access.bar, access.offset + 4 * half, 4, access.write};
}

std::uint32_t Gpu::read_register_word(const Access &access, std::uint32_t offset) {
    const ReadAnswer got = chip_->read(offset);
    if (got.answer != Answer::done)
        violations_.note(access, violation_of(got.answer));
    return got.value;
}

std::uint64_t Gpu::read_register(const Access &access) {
    const auto aligned = static_cast<std::uint32_t>(access.offset & ~std::uint64_t{3});
    if (access.size == 4 && access.offset == aligned)
        return read_register_word(access, aligned);
    if (is_two_registers(access)) {
        const std::uint32_t low = read_register_word(half_of(access, 0), aligned);
        return join(read_register_word(half_of(access, 1), aligned + 4), low);
    }
    violations_.note(access, Violation::size);
    const unsigned skipped = 8 * static_cast<unsigned>(access.offset - aligned);
    std::uint64_t value = chip_->read(aligned).value;
    if (skipped + 8 * access.size > 32)
        value |= std::uint64_t{chip_->read(aligned + 4).value} << 32;
    return value >> skipped;
}

void Gpu::write_register(const Access &access, std::uint64_t value) {
    if (is_two_registers(access)) {
        write_register(half_of(access, 0), low32(value));
        write_register(half_of(access, 1), high32(value));
        return;
    }
    if (access.size != 4 || access.offset % 4 != 0) {
        violations_.note(access, Violation::size);
        return;
    }
    const Answer got =
        chip_->write(static_cast<std::uint32_t>(access.offset), static_cast<std::uint32_t>(value));
    if (got != Answer::done)
        violations_.note(access, violation_of(got));
}

} // namespace nvmodel
