// SPDX-License-Identifier: MIT OR GPL-2.0
#include "programs/switch_cost.hpp"

namespace nvmodel {
namespace {

// The parts of a whole switch between two equal tasks, in ns.
constexpr double nothing_held = 152'000;
constexpr double each_mib = 1330;
constexpr double each_thread = 21;
/// Threads seem to move shared memory: with fewer threads the move takes longer.
constexpr double each_kib_of_thread = 23'800;

} // namespace

Ns save_or_load_time(const Held &held) {
    const double mib = static_cast<double>(held.bytes) / (1 << 20);
    return static_cast<Ns>((nothing_held + each_mib * mib + each_thread * held.threads +
                            each_kib_of_thread * held.shared_of_thread / 1024) /
                           2);
}

} // namespace nvmodel
