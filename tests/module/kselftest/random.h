/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Makes choices that a seed decides (splitmix64). */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Returns a number from 0 to `count` - 1. */
static inline size_t rng_below(struct rng *rng, size_t count)
{
	return (size_t)(rng_next(rng) % count);
}

/* Returns true once in `count` times. */
static inline bool rng_once_in(struct rng *rng, size_t count)
{
	return !rng_below(rng, count);
}

/* Starts the `number`-th of several sequences that share a seed. */
static inline struct rng rng_of(uint64_t seed, uint64_t number)
{
	struct rng rng = { seed ^ number << 48 };

	rng.state = rng_next(&rng);
	return rng;
}

#define RNG_PICK(rng, array) \
	((array)[rng_below(rng, sizeof(array) / sizeof(*(array)))])

#endif
