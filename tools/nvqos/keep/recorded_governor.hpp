// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A qos::Governor whose calls are recorded (--decisions), for bug reports and tests. The
/// same calls to another Governor show whether it decides the same.
///
/// A line of the record is one call. It is an object with the number of the GPU and the call's name,
/// behind which are its arguments by their names in governor.hpp. All times are in ns. A line is
/// written when its call has returned. Lines of several GPUs are mixed, and those of one GPU are in
/// the order of its calls:
///
///     {"gpu":0,"begin":{"now":N,"settings":{…},"goals":[{…},…]}}
///     {"gpu":0,"set_goals":{"now":N,"goals":[{…},…],"before":[0,null,…]}}
///     {"gpu":0,"set_tsgs":{"tenant":0,"tsgs":1}}
///     {"gpu":0,"set_in_effect":{"tenant":0,"in_effect":false}}
///     {"gpu":0,"set_spans":{"tenant":0,"spans":true}}
///     {"gpu":0,"mark":{"tenant":0,"busy":true}}
///     {"gpu":0,"set_pause":{"takes":N}}
///     {"gpu":0,"lose":{}}
///     {"gpu":0,"add":{"tenant":0,"task":N,"begin":N,"end":N,"ends":true}}
///     {"gpu":0,"needs_turns":{"now":N,"returns":true}}
///     {"gpu":0,"step":{"now":N,"seen":true,"levers":[{"timeslice":N,"paused":false},…],"due":N}}
///
/// `begin` is the constructor: the goals on a GPU begin, or have new settings, or begin again after
/// the GPU was left out or windows of gangs have ended. `levers` by tenant and `due` are as after
/// the step. In windows they are not in effect. Names of tenants are not recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "decisions.hpp"
#include "lib/qos/governor.hpp"

namespace nvqos {

class RecordedGovernor : private qos::Governor {
  public:
    /// The record, and the GPU's number there.
    struct Record {
        std::shared_ptr<Decisions> decisions; ///< null: nothing is recorded
        std::uint32_t gpu;
    };

    RecordedGovernor(Record record, const qos::Settings &settings,
                     const std::vector<qos::Goal> &goals, qos::Ns now, qos::Planner planner);

    // These do the same as in qos::Governor, and are recorded. A call of set_tsgs(),
    // set_in_effect(), set_spans() or mark() that changes nothing is left out.
    void set_tsgs(std::size_t tenant, std::int64_t tsgs);
    void set_in_effect(std::size_t tenant, bool in_effect);
    void set_spans(std::size_t tenant, bool spans);
    void mark(std::size_t tenant, std::optional<bool> busy);
    void add(const qos::TenantTurn &turn);
    void set_goals(const std::vector<qos::Goal> &goals,
                   std::span<const std::optional<std::size_t>> before, qos::Ns now);
    void set_pause(qos::Ns takes);
    void lose();
    bool needs_turns(qos::Ns now) const;
    std::optional<qos::EpochRecord> step(qos::Ns now, bool seen = true);

    /// Returns the levers of all tenants.
    std::vector<qos::Lever> levers() const;
    using Governor::credit;
    using Governor::due;
    using Governor::entrants;
    using Governor::lever;
    using Governor::waits;

  private:
    template <typename Text>
    void record(const Text &text) const;

    Record record_;
};

} // namespace nvqos
