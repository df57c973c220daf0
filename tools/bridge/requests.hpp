// SPDX-License-Identifier: MIT OR GPL-2.0
// Answers the requests that come over a bridge's control socket: docs/vm.md.
#pragma once

#include "bridged_gpu.hpp"

#include "control/answers.hpp"

namespace nvdebug::bridge {

class Requests final : public nvmodel::Answers {
  public:
    explicit Requests(BridgedGpu &gpu) : gpu_(gpu) {}
    [[nodiscard]] std::string answer(std::string_view line) override;

  private:
    BridgedGpu &gpu_;
    BridgedGpu::Counts before_; // counts at the last "stats reset"
};

} // namespace nvdebug::bridge
