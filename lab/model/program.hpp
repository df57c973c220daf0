// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file One program of an experiment, as its procedures see it. */
#ifndef NVDEBUG_LAB_MODEL_PROGRAM_HPP
#define NVDEBUG_LAB_MODEL_PROGRAM_HPP

#include "stage.hpp"

#include "programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <list>

namespace lab {

/** Keys stay in the order in which they are set. Times are whole ns of virtual time. */
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
    /** Opens a stream and returns its number. */
    std::size_t stream() { return gpu_.open_stream(process_); }

    /** Returns the time of a call of a library. Procedures await it, as they do the times of
     * compute() and sleep(), and conditions of until(). */
    Stage::Wait call();
    Stage::Wait compute(Ns duration) { return stage_.pause(duration); }
    Stage::Wait sleep(Ns duration);
    Stage::Wait until(std::function<bool()> over) { return stage_.until(std::move(over)); }
    /** Returns the wait for the end of an operation. notice() is the time from then until a
     * polling program knows. */
    Stage::Wait end_of(std::size_t operation);
    Stage::Wait notice();

    /** Starts another procedure, which runs beside the present ones. */
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
