// SPDX-License-Identifier: MIT OR GPL-2.0
#include "session.hpp"

#include <algorithm>
#include <charconv>

namespace lab {

namespace {

unsigned number_of(const std::string &name, const std::string &text, unsigned most) {
    unsigned value = 0;
    const char *const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || !value || value > most)
        fail(name + "=" + text + ": a number from 1 to " + std::to_string(most) + " is expected");
    return value;
}

void apply(const std::map<std::string, std::string> &environment, nvmodel::Process &process) {
    for (const auto &[name, value] : environment) {
        if (name == "CUDA_DEVICE_MAX_CONNECTIONS")
            process.connections = number_of(name, value, 32);
        else if (name == "CUDA_MPS_PIPE_DIRECTORY")
            process.mps_server = value;
        else if (name == "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")
            process.percentage = number_of(name, value, 100);
        else
            fail("the model makes nothing of " + name);
    }
}

} // namespace

Pid Session::open(const std::string &name, Options &options,
                  const std::map<std::string, std::string> &environment) {
    if (!running_.empty() && running_.front()->program)
        fail("there are instruments on the GPU: end them first");
    Instrument instrument = make_instrument(name, options);
    apply(environment, instrument.process);
    end_gpu();
    const Pid pid = next_pid_++;
    instrument.process.name = name + "-" + std::to_string(pid);
    auto one = std::make_unique<Running>();
    one->pid = pid;
    one->name = name;
    one->instrument = std::move(instrument);
    running_.push_back(std::move(one));
    return pid;
}

void Session::ready() {
    nvmodel::Programs &gpu = this->gpu();
    for (std::size_t n = 0; n < running_.size(); n++)
        if (!running_[n]->program)
            running_[n]->program.emplace(stage_, gpu, n);
}

void Session::go(Pid pid) {
    Running &one = running(pid);
    if (!one.program)
        fail("nothing is ready");
    if (one.started)
        fail(std::to_string(pid) + " was started before");
    one.started = true;
    one.program->start(one.instrument.run(*one.program));
}

Json Session::finish(Pid pid) {
    constexpr Ns patience = 60'000'000'000;
    Running &one = running(pid);
    if (!one.started)
        fail(std::to_string(pid) + " was not started");
    stage_.run(now() + patience, [&] { return one.program->done(); });
    if (!one.program->done())
        fail(one.name + " (" + std::to_string(pid) + ") did not end in 60 s of virtual time");
    Json found{{"instrument", one.name}, {"pid", pid}};
    found.update(one.program->answer);
    return found;
}

void Session::end() {
    running_.clear();
    end_gpu();
}

void Session::end_gpu() {
    machine_.reset();
    gpu_.reset();
}

Ns Session::now() const {
    return gpu_ ? gpu_->now() : 0;
}

void Session::advance(Ns time) {
    gpu().advance(time);
}

void Session::let_pass(Ns duration) {
    stage_.run(now() + duration, [] { return false; });
}

void Session::set_enabled(Pid pid, bool enabled) {
    gpu().set_enabled(number(pid), enabled);
}

void Session::set_listed(Pid pid, bool listed) {
    gpu().set_listed(number(pid), listed);
}

void Session::set_preemption(Pid pid, nvmodel::ComputePreemption mode) {
    gpu().set_preemption(number(pid), mode);
}

std::size_t Session::channels(Pid pid) {
    return gpu().channels(number(pid)).size();
}

std::size_t Session::tsgs(Pid pid) {
    return gpu().tsgs(number(pid)).size();
}

void Session::write_files(const std::string &folder, const std::vector<std::string> &prefixes) {
    std::vector<Owned> owned;
    for (std::size_t n = 0; n < running_.size(); n++)
        for (const std::size_t channel : gpu().channels(n))
            owned.push_back({running_[n]->pid, running_[n]->name, channel});
    write_tree(machine(), gpu().gpu(), owned, prefixes, folder);
}

std::uint32_t Session::read_register(std::uint32_t offset) {
    return machine().register_read(offset);
}

nvmodel::Programs &Session::gpu() {
    if (!gpu_) {
        std::vector<nvmodel::Process> processes;
        for (const auto &one : running_)
            processes.push_back(one->instrument.process);
        gpu_ = std::make_unique<nvmodel::Programs>(board_, std::move(processes), rules_);
    }
    return *gpu_;
}

Machine &Session::machine() {
    if (!machine_)
        machine_ = std::make_unique<Machine>(gpu().gpu());
    return *machine_;
}

std::size_t Session::number(Pid pid) const {
    const auto found =
        std::ranges::find_if(running_, [&](const auto &one) { return one->pid == pid; });
    if (found == running_.end())
        fail("there is no instrument " + std::to_string(pid));
    return static_cast<std::size_t>(found - running_.begin());
}

} // namespace lab
