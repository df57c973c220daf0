// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @file The model's version of lab/instruments. Names, options and answers are the same, but the
 * instruments run kernels and copies of known lengths on the modelled GPU, in virtual time.
 */
#ifndef NVDEBUG_LAB_MODEL_INSTRUMENTS_HPP
#define NVDEBUG_LAB_MODEL_INSTRUMENTS_HPP

#include "program.hpp"

#include "../instruments/options.hpp"

#include <functional>
#include <stdexcept>
#include <string>

namespace lab {

/** The exception that lab::fail() throws in this program. */
class Refused : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Instrument {
    nvmodel::Process process = {};           // without a name
    std::function<Procedure(Program &)> run; // must outlive the procedure
};

/** Makes an instrument. Throws Refused for an unknown name or a wrong option. */
Instrument make_instrument(const std::string &name, Options &options);

} // namespace lab

#endif
