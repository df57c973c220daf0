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

    /** Adds an instrument before ready(). @param environment variables CUDA_* of its process */
    Pid open(const std::string &name, Options &options,
             const std::map<std::string, std::string> &environment);
    /** Puts all opened instruments on the GPU, at time 0. They then wait for go(). */
    void ready();
    void go(Pid pid);
    /** Lets time pass until the instrument has ended, and returns its answer. */
    Json finish(Pid pid);
    /** Removes all instruments, and makes a new GPU. */
    void end();

    Ns now() const override;
    void let_pass(Ns duration);

    void set_enabled(Pid pid, bool enabled);
    void set_listed(Pid pid, bool listed);
    void set_preemption(Pid pid, nvmodel::ComputePreemption mode);
    std::size_t channels(Pid pid);
    std::size_t tsgs(Pid pid);

    /** Calls write_tree(), which takes no virtual time. */
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
