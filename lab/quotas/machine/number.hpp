// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Exact numbers: goals and shares are fractions, and a quota is rounded once, at its end.
#pragma once

#include <cstdint>
#include <gmpxx.h>

namespace qos {

static_assert(sizeof(long) == sizeof(std::int64_t), "GMP takes 64-bit numbers as long");

using Integer = mpz_class;
/// A fraction in lowest terms with a positive denominator.
using Rational = mpq_class;

/// Returns @p numerator / @p denominator, which must not be 0.
inline Rational fraction(const Integer &numerator, const Integer &denominator) {
    Rational value(numerator, denominator);
    value.canonicalize();
    return value;
}

inline Integer floor(const Rational &value) {
    Integer down;
    mpz_fdiv_q(down.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
    return down;
}

inline Integer ceil(const Rational &value) {
    Integer up;
    mpz_cdiv_q(up.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
    return up;
}

/// Returns the nearest whole number. Halves are rounded up.
inline Integer nearest(const Rational &value) {
    return floor(value + fraction(1, 2));
}

} // namespace qos
