// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file One program of an experiment, as its procedures see it. */
#ifndef NVDEBUG_LAB_MODEL_PROGRAM_HPP
#define NVDEBUG_LAB_MODEL_PROGRAM_HPP

#include "stage.hpp"

#include "programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <list>

namespace lab {

/** Whole nanoseconds of virtual time, and in the order in which they are set. */
using Json = nlohmann::ordered_json;

class Program {
  public:
    Program(Stage &stage, nvmodel::Programs &gpu, std::size_t process)
        : stage_(stage), gpu_(gpu), process_(process) {}
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;
    ~Program();

    Ns now() const { return stage_.now(); }
    nvmodel::Programs &gpu() { return gpu_; }
    unsigned sms() const { return static_cast<unsigned>(gpu_.sms(process_).size()); }
    /** Its number. */
    std::size_t stream() { return gpu_.open_stream(process_); }

    /** To be awaited: what a call of a library takes; what a program computes or copies; a sleep.
     */
    Stage::Wait call();
    Stage::Wait compute(Ns duration) { return stage_.pause(duration); }
    Stage::Wait sleep(Ns duration);
    Stage::Wait until(std::function<bool()> over) { return stage_.until(std::move(over)); }
    /** Until an operation has ended; and what then passes until the program knows. */
    Stage::Wait end_of(std::size_t operation);
    Stage::Wait notice();

    /** Something else that the program does from now on. */
    void start(Procedure procedure);
    bool done() const;

    Json answer = Json::object();

  private:
    Stage &stage_;
    nvmodel::Programs &gpu_;
    std::size_t process_; // its number
    std::list<Procedure> procedures_;
};

} // namespace lab

#endif
