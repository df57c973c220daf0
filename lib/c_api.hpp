// SPDX-License-Identifier: MIT OR GPL-2.0
// What all of the C interface needs: errors that cross it in place of exceptions, and structures
// that may be of another version.
#ifndef NVDEBUG_LIB_C_API_HPP
#define NVDEBUG_LIB_C_API_HPP

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <string>

#include "nvdebug/gpu.hpp"
#include "nvdebug/nvdebug.h"

struct nvd_error {
    nvdebug::Error error;
};
struct nvd_tree {
    nvdebug::Tree tree;
};
struct nvd_gpu {
    nvdebug::Gpu gpu;
};
struct nvd_lease {
    nvdebug::Lease lease;
};

namespace nvdebug::c {

inline constexpr const char *null_pointer = "an argument is NULL that must not be";

nvd_error *error_of(Error error);
nvd_error *invalid(const char *sentence);

/** When there is no memory for an error either; nvd_error_destroy() leaves it alone. */
nvd_error *out_of_memory() noexcept;

/** For what else the C++ library throws; nvd_error_destroy() leaves it alone, too. */
nvd_error *internal_error() noexcept;

/** What @p body returns, or an error for what it throws, or if one of @p needed is NULL. */
template <typename Body, typename... Pointed>
nvd_error *guarded(Body body, const Pointed *...needed) noexcept {
    try {
        if ((!needed || ...))
            return invalid(null_pointer);
        return body();
    } catch (const std::bad_alloc &) {
        return out_of_memory();
    } catch (...) {
        return internal_error();
    }
}

/** A handle for what @p result holds. */
template <typename Handle, typename T>
nvd_error *hand_over(Result<T> result, Handle **ret) {
    if (!result)
        return error_of(std::move(result).error());
    *ret = new Handle{std::move(*result)};
    return nullptr;
}

/** Fills in a structure of the caller's as far as that goes. */
template <typename T>
nvd_error *copy_out(T from, T *ret) {
    if (ret->size < sizeof(from.size))
        return invalid("the structure's size is not set; set it to sizeof the structure");
    from.size = std::min(ret->size, sizeof(from));
    std::memcpy(ret, &from, from.size);
    return nullptr;
}

template <std::size_t N>
void copy_string(const std::string &from, char (&to)[N]) {
    to[from.copy(to, N - 1)] = 0;
}

template <std::size_t N>
void copy_string(const std::optional<std::string> &from, char (&to)[N]) {
    copy_string(from.value_or(""), to);
}

/** -1: unknown. */
template <typename T>
std::int64_t number_of(const std::optional<T> &from) {
    return from ? static_cast<std::int64_t>(*from) : -1;
}

inline std::int32_t flag_of(const std::optional<bool> &from) {
    return from ? std::int32_t{*from} : -1;
}

} // namespace nvdebug::c

#endif
