// SPDX-License-Identifier: MIT OR GPL-2.0
#include "programs/programs.hpp"

#include "base/error.hpp"
#include "programs/machine.hpp"

namespace nvmodel {

Programs::Programs(const Board &board, std::vector<Process> processes, const Rules &rules)
    : machine_(std::make_unique<Machine>(board, std::move(processes), rules)) {}

Programs::~Programs() = default;

Gpu &Programs::gpu() {
    return machine_->gpu();
}

const Gpu &Programs::gpu() const {
    return machine_->gpu();
}

const Process &Programs::process(std::size_t process) const {
    return machine_->processes().at(process);
}

std::size_t Programs::open_stream(std::size_t process) {
    return machine_->open_stream(process);
}

std::size_t Programs::launch(std::size_t stream, const Kernel &kernel) {
    if (kernel.blocks == 0 || kernel.threads == 0 || kernel.block < 0)
        throw ConfigError("a kernel has blocks and threads, and takes no less than no time");
    if (!SmRoom::of_sm().holds(SmRoom::of_block(kernel)))
        throw ConfigError("a block of this kernel does not fit on an SM: fewer threads, registers "
                          "or less shared memory will");
    Operation operation;
    operation.kernel = kernel;
    return machine_->append(stream, std::move(operation));
}

std::size_t Programs::copy(std::size_t stream, Direction direction, std::uint64_t bytes) {
    if (bytes == 0)
        throw ConfigError("a copy has at least one byte");
    Operation operation;
    operation.copy = {direction, bytes};
    return machine_->append(stream, std::move(operation));
}

void Programs::set_preemption(std::size_t process, ComputePreemption mode) {
    machine_->set_preemption(process, mode);
}

void Programs::set_enabled(std::size_t process, bool enabled) {
    machine_->set_enabled(process, enabled);
}

void Programs::set_listed(std::size_t process, bool listed) {
    machine_->set_listed(process, listed);
}

Ns Programs::now() const {
    return gpu().now();
}

std::vector<std::size_t> Programs::advance(Ns until) {
    return machine_->advance(until);
}

bool Programs::wait(std::size_t operation, Ns until) {
    while (!done(operation) && now() < until)
        machine_->advance(until);
    return done(operation);
}

const Operation &Programs::operation(std::size_t operation) const {
    return machine_->operations().at(operation);
}

bool Programs::done(std::size_t operation) const {
    return this->operation(operation).done();
}

std::size_t Programs::operations() const {
    return machine_->operations().size();
}

std::span<const unsigned> Programs::sms(std::size_t process) const {
    return machine_->sms(process);
}

std::vector<std::size_t> Programs::tsgs(std::size_t process) const {
    return machine_->tsgs(process);
}

std::vector<std::size_t> Programs::channels(std::size_t process) const {
    return machine_->channels_of(process);
}

bool Programs::busy(EngineName engine) const {
    const Host &host = gpu().chip().host();
    const auto index = host.engine_index(engine);
    return index && host.engines()[*index].busy();
}

} // namespace nvmodel
