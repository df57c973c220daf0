// SPDX-License-Identifier: MIT OR GPL-2.0
#include "spart.hpp"

namespace engine {
namespace {

/** Returns the speed with one SM less, if speed is proportional to SMs. */
qos::Rational with_one_less(const qos::Rational &speed, int sms) {
    return sms ? qos::Rational(speed * qos::fraction(sms - 1, sms)) : qos::Rational(0);
}

std::optional<std::size_t> giver(const std::vector<Share> &shares, std::size_t k, int least) {
    std::optional<std::size_t> found;
    for (std::size_t v = 0; v < shares.size(); v++)
        if (!shares[v].qos && shares[v].sms > least &&
            (!found || shares[v].sms > shares[*found].sms))
            found = v;
    if (found)
        return found;
    for (std::size_t v = 0; v < shares.size(); v++)
        if (v != k && shares[v].qos && shares[v].sms > 1 &&
            with_one_less(shares[v].speed, shares[v].sms) >= shares[v].goal &&
            (!found || shares[v].sms > shares[*found].sms))
            found = v;
    return found;
}

std::optional<std::size_t> taker(const std::vector<Share> &shares) {
    std::optional<std::size_t> found;
    for (std::size_t v = 0; v < shares.size(); v++)
        if (!shares[v].qos && (!found || shares[v].sms < shares[*found].sms))
            found = v;
    return found;
}

} // namespace

std::vector<int> equal_parts(std::size_t sms, std::size_t kernels) {
    std::vector<int> found(kernels, static_cast<int>(sms / kernels));
    for (std::size_t k = 0; k < sms % kernels; k++)
        found[k]++;
    return found;
}

std::optional<Move> climb(const std::vector<Share> &shares, std::size_t k, int least) {
    const Share &one = shares[k];
    if (one.speed < one.goal) {
        const std::optional<std::size_t> from = giver(shares, k, least);
        return from ? std::optional(Move{.from = *from, .to = k}) : std::nullopt;
    }
    const std::optional<std::size_t> to = taker(shares);
    if (one.sms > 1 && to && with_one_less(one.last, one.sms) >= one.goal)
        return Move{.from = k, .to = *to};
    return std::nullopt;
}

} // namespace engine
