// SPDX-License-Identifier: MIT OR GPL-2.0
// The control socket's requests, apart from the socket. docs/model.md describes them.
#pragma once

#include "control/answers.hpp"
#include "control/catalog.hpp"
#include "device/gpu.hpp"

#include <string>
#include <string_view>

namespace nvmodel {

class Requests final : public Answers {
  public:
    Requests(Gpu &gpu, Catalog catalog) : gpu_(gpu), catalog_(std::move(catalog)) {}

    std::string answer(std::string_view line) override;

  private:
    Gpu &gpu_;
    Catalog catalog_;
};

} // namespace nvmodel
