// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The instruments of one step of an experiment on one modelled GPU. */
#ifndef NVDEBUG_LAB_MODEL_SESSION_HPP
#define NVDEBUG_LAB_MODEL_SESSION_HPP

#include "instruments.hpp"
#include "machine.hpp"
#include "tree.hpp"

#include "board/board.hpp"
#include "programs/programs.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lab {

using Pid = unsigned;

/** All functions throw Refused for a name or number that does not exist. */
class Session : private World {
  public:
    Session(nvmodel::Board board, const nvmodel::Rules &rules)
        : board_(std::move(board)), rules_(rules) {}

    /** One more instrument, before ready(). @param environment of the process: CUDA_* */
    Pid open(const std::string &name, Options &options,
             const std::map<std::string, std::string> &environment);
    /** All that were opened are on the GPU, at time 0, and wait for go(). */
    void ready();
    void go(Pid pid);
    /** Lets time pass until it is over; what it found. */
    Json finish(Pid pid);
    /** They are gone, and the GPU is another one. */
    void end();

    Ns now() const override;
    void let_pass(Ns duration);

    void set_enabled(Pid pid, bool enabled);
    void set_listed(Pid pid, bool listed);
    void set_preemption(Pid pid, nvmodel::ComputePreemption mode);
    std::size_t channels(Pid pid);
    std::size_t tsgs(Pid pid);

    /** See write_tree(). Takes no time. */
    void write_files(const std::string &folder, const std::vector<std::string> &prefixes);
    std::uint32_t read_register(std::uint32_t offset);

  private:
    struct Running {
        Pid pid = 0;
        std::string name;
        Instrument instrument;
        std::optional<Program> program; // once it is ready
        bool started = false;
    };

    void end_gpu();
    void advance(Ns time) override;
    nvmodel::Programs &gpu();
    Machine &machine();
    std::size_t number(Pid pid) const;
    Running &running(Pid pid) { return *running_[number(pid)]; }

    nvmodel::Board board_;
    nvmodel::Rules rules_;
    Pid next_pid_ = 1001;
    std::unique_ptr<nvmodel::Programs> gpu_;
    std::unique_ptr<Machine> machine_;
    Stage stage_{*this};
    std::vector<std::unique_ptr<Running>> running_; // in the order of their processes
};

} // namespace lab

#endif
