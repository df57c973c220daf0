// SPDX-License-Identifier: MIT OR GPL-2.0
// The model's error rule.
//
// - Data that people hand to the model (board and workload files, options, control requests) is
//   checked where it is read. A fault throws ConfigError with a sentence that names file, place and
//   reason. main() turns it into exit code 2, the control socket into {"ok":false}.
// - Messages from QEMU are checked, too; a fault throws ProtocolError, exit code 3.
// - An access of the guest never throws: hardware answers every access, and so does the model.
// - Anything else that escapes is a bug in the model, exit code 3.
#pragma once

#include <stdexcept>

namespace nvmodel {

class ConfigError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class ProtocolError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

} // namespace nvmodel
