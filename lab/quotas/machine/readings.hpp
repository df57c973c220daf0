// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The readings of questions that Wang et al., *Quality of Service Support for Fine-Grained
/// Sharing on GPUs*, ISCA 2017, leave open (docs/quotas.md has the reasons). The first enumerator
/// of each reading is its default.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/qos/scheme.hpp"
#include "number.hpp"

namespace qos {

/// The treatment of a counter below 0 at the end of an epoch.
enum class Debt {
    by_scheme, ///< carried if the scheme keeps rests (rollover, rollover_time), else forgiven
    forgive,
    carry,
};

/// A refill within an epoch adds the quota to the counter, or sets the counter to it.
enum class Refill { add, set };

/// The counters that must be at 0 or below for a refill on an SM.
enum class Trigger {
    all, ///< the counters of all kernels
    own, ///< the counters of all QoS kernels and of the kernel itself
    qos, ///< the counters of all QoS kernels
};

/// Whether the counter of a kernel without a block on an SM keeps other kernels from a refill.
enum class Absent { exempt, counts };

/// The operator by which the search joins the attainments of QoS kernels (Section 3.5, where the
/// operator is lost in print).
enum class SearchOperator { product, min, mean, sum };

/// The number that the search multiplies.
enum class SearchBase {
    achieved, ///< the kernel's instructions per cycle in the last epoch
    goal,     ///< its last artificial goal
};

/// The α_k in a QoS kernel's attainment.
enum class SearchAlpha {
    newest,   ///< of the epoch that begins
    previous, ///< of the epoch that ends
    none,     ///< 1
};

/// The rounding of an SM's share.
enum class Rounding {
    largest, ///< largest remainders, so that the shares add up to the quota; ties go to the lower
             ///< SM
    floor,
    ceil,
    nearest, ///< halves up
};

enum class Charge {
    issue,    ///< when an instruction is issued
    complete, ///< a fixed number of cycles later
};

/// The value of the counter that decides whether an instruction may be issued.
enum class Check {
    snapshot, ///< the value at the begin of the cycle
    serial,   ///< the value after the instructions that were already issued in this cycle
};

enum class ElasticScope {
    sm,  ///< each SM refills on its own; epochs keep their length
    gpu, ///< a new epoch begins when all SMs have used up their quotas
};

enum class RolloverScope {
    sm,   ///< a rest stays on its SM
    pool, ///< rests are added up and shared like a quota
};

struct Readings {
    std::optional<bool> alpha; ///< is α_k in use? None: in every scheme but naive
    Debt neg_boundary = Debt::by_scheme;
    Refill refill = Refill::add;
    Trigger refill_trigger = Trigger::all;
    Absent absent = Absent::exempt;
    SearchOperator search_op = SearchOperator::product;
    SearchBase search_base = SearchBase::achieved;
    SearchAlpha search_alpha = SearchAlpha::newest;
    Rational search_floor = 1; ///< least artificial goal, from the second epoch on; not negative
    Rational init_ipc = 1;     ///< artificial goal of the first epoch; not negative
    bool cap = true;           ///< is a quota bounded by what the GPU can issue in an epoch?
    std::optional<std::int64_t>
        hist; ///< epochs that α_k looks back, 1 or more; none: all since the launch
    std::optional<Rational> alpha_max; ///< 1 or more
    Rounding round = Rounding::largest;
    Charge charge = Charge::issue;
    std::int64_t latency = 0; ///< cycles until an instruction is charged, with Charge::complete
    Check check = Check::snapshot;
    ElasticScope elastic_scope = ElasticScope::sm;
    std::optional<Rational>
        rollover_cap; ///< the most that is kept, in new quotas of the SM; not negative
    RolloverScope rollover_scope = RolloverScope::sm;

    bool uses_alpha(Scheme scheme) const { return alpha.value_or(scheme != Scheme::naive); }
    bool carries_debt(Scheme scheme) const {
        return neg_boundary == Debt::by_scheme ? rolls_over(scheme) : neg_boundary == Debt::carry;
    }
};

} // namespace qos
