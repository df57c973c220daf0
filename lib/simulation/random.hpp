// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Random numbers that are the same on every machine: whole numbers throughout, and no
/// function of libm.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lib/qos/goal.hpp"

namespace simulation {

using qos::Ns;
using qos::Part;

/// std::mt19937_64, which is the same everywhere, with loops that compilers vectorise. A kernel
/// whose length varies takes twelve numbers.
class MersenneTwister {
  public:
    explicit MersenneTwister(std::uint64_t seed) {
        for (std::uint64_t n = 0; n < size; n++)
            state_[n] = seed = n ? 6364136223846793005 * (seed ^ seed >> 62) + n : seed;
    }

    std::uint64_t operator()() {
        if (at_ == size)
            refill();
        return numbers_[at_++];
    }

    /// Returns the sum of the upper halves of the next numbers, of which there are @p count.
    template <std::size_t count>
    std::int64_t sum_of_halves() {
        std::int64_t sum = 0;
        if (at_ == size)
            refill();
        if (at_ + count > size) {
            for (std::size_t n = 0; n < count; n++)
                sum += static_cast<std::int64_t>((*this)() >> 32);
            return sum;
        }
        for (std::size_t n = 0; n < count; n++)
            sum += static_cast<std::int64_t>(numbers_[at_ + n] >> 32);
        at_ += count;
        return sum;
    }

  private:
    static constexpr std::size_t size = 312, half = 156;

    /// Returns the next state from two neighbours and the one that is half of all away.
    static constexpr std::uint64_t next(std::uint64_t high, std::uint64_t low, std::uint64_t far) {
        constexpr std::uint64_t lower_mask = (std::uint64_t{1} << 31) - 1;
        const std::uint64_t y = (high & ~lower_mask) | (low & lower_mask);
        return far ^ y >> 1 ^ ((0 - (y & 1)) & 0xb5026f5aa96619e9);
    }

    void refill() {
        for (std::size_t n = 0; n < half; n++)
            state_[n] = next(state_[n], state_[n + 1], state_[n + half]);
        for (std::size_t n = half; n < size - 1; n++)
            state_[n] = next(state_[n], state_[n + 1], state_[n - half]);
        state_[size - 1] = next(state_[size - 1], state_[0], state_[half - 1]);
        for (std::size_t n = 0; n < size; n++) {
            std::uint64_t z = state_[n];
            z ^= z >> 29 & 0x5555555555555555;
            z ^= z << 17 & 0x71d67fffeda60000;
            z ^= z << 37 & 0xfff7eee000000000;
            numbers_[n] = z ^ z >> 43;
        }
        at_ = 0;
    }

    std::array<std::uint64_t, size> state_, numbers_;
    std::size_t at_ = size; ///< in numbers_
};

/// One stream of random numbers. Each job has a stream for each purpose, seeded by the job's name,
/// so that another job, or another purpose, does not shift it.
class Random {
  public:
    enum class Purpose : std::uint64_t { start, arrivals, cpu, kernels, clocks, lengths };

    Random(std::uint64_t seed, std::string_view job, Purpose purpose, std::size_t rank = 0)
        : engine_(
              mixed(mixed(mixed(mixed(seed) ^ named(job)) ^ static_cast<std::uint64_t>(purpose)) ^
                    rank)) {}

    /// Returns a time from 0 on and below @p end, which is above 0.
    Ns below(Ns end) {
        return static_cast<Ns>(static_cast<Wide>(engine_()) * static_cast<Wide>(end) >> 64);
    }

    /// Returns a standard normal number in units of 2^-32: the sum of twelve uniform ones, less 6.
    std::int64_t normal() { return engine_.sum_of_halves<12>() - 6 * (std::int64_t{1} << 32); }

    /// Returns an exponentially distributed time by von Neumann's comparisons: of uniform numbers
    /// the first one stands, plus a whole number of rejections, if the run in which each is below
    /// the one before it has an odd length.
    Ns exponential(Ns mean) {
        for (std::int64_t rejected = 0;; rejected++) {
            const std::uint64_t first = engine_();
            bool is_odd = true;
            for (std::uint64_t last = first, next; (next = engine_()) < last; last = next)
                is_odd = !is_odd;
            if (is_odd)
                return rejected * mean +
                       static_cast<Ns>(static_cast<Wide>(first) * static_cast<Wide>(mean) >> 64);
        }
    }

    /// Returns a value with this mean and coefficient of variation: constant with 0, exponential with
    /// 1. Below 1 it is Erlang's, a sum of exponential parts. Above 1 it is exponential with one of
    /// two means, so that most values are short and a few are long.
    std::int64_t varied(std::int64_t mean, Part variation) {
        if (variation == 0)
            return mean;
        const std::int64_t square = variation * variation, one = qos::whole * qos::whole;
        if (variation <= qos::whole) {
            const std::int64_t parts = (one + square / 2) / square;
            std::int64_t sum = 0;
            for (std::int64_t n = 0; n < parts; n++)
                sum += exponential(mean);
            return sum / parts;
        }
        // Both means have the same part of the sum of all values.
        const Part apart = root(qos::scaled(square - one, one, square + one)),
                   shorter = (qos::whole + apart) / 2;
        const bool is_short = below(qos::whole) < shorter;
        return exponential(
            qos::scaled(mean, qos::whole, 2 * (is_short ? shorter : qos::whole - shorter)));
    }

  private:
    __extension__ using Wide = unsigned __int128;

    /// Returns the square root, rounded down.
    static constexpr std::int64_t root(std::int64_t square) {
        std::int64_t low = 0;
        for (std::int64_t step = std::int64_t{1} << 31; step > 0; step /= 2)
            if ((low + step) <= square / (low + step))
                low += step;
        return low;
    }

    /// Steele, Lea and Flood's mixing function (splitmix64).
    static constexpr std::uint64_t mixed(std::uint64_t z) {
        z += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    /// FNV-1a.
    static constexpr std::uint64_t named(std::string_view name) {
        std::uint64_t hash = 0xcbf29ce484222325;
        for (const char c : name)
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return hash;
    }

    MersenneTwister engine_;
};

/// Returns @p time × (1 + @p jitter × @p normal), and no less than 0.
/// @param normal Random::normal()
constexpr Ns jittered(Ns time, Part jitter, std::int64_t normal) {
    __extension__ using Wide = __int128;
    const Wide change = static_cast<Wide>(time) * jitter / qos::whole * normal / (Wide{1} << 32);
    return change < -time ? 0 : time + static_cast<Ns>(change);
}

} // namespace simulation
