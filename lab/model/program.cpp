// SPDX-License-Identifier: MIT OR GPL-2.0
#include "program.hpp"

#include <algorithm>

namespace lab {

Program::~Program() {
    for (const Procedure &one : procedures_)
        stage_.forget(one);
}

Stage::Wait Program::call() {
    constexpr Ns measured = 3'500; // lab/overhead: a launch, an H100's host
    return compute(measured);
}

Stage::Wait Program::sleep(Ns duration) {
    constexpr Ns slack = 50'000; // Linux's default, prctl(2)
    return stage_.pause(duration + slack);
}

Stage::Wait Program::notice() {
    constexpr Ns chosen =
        2'000; // chosen so that 51,200 bytes take 11 us, as in lab/copy-behind-copies
    return stage_.pause(chosen);
}

Stage::Wait Program::end_of(std::size_t operation) {
    return until([this, operation] { return gpu_.done(operation); });
}

void Program::start(Procedure procedure) {
    stage_.start(procedures_.emplace_back(std::move(procedure)));
}

bool Program::done() const {
    return std::ranges::all_of(procedures_, &Procedure::done);
}

} // namespace lab
