// SPDX-License-Identifier: MIT OR GPL-2.0
#include "c_api.hpp"

#include <cerrno>

namespace nvdebug::c {
namespace {

/** Without a string that might need memory. */
nvd_error no_memory{{ErrorCode::io, ENOMEM, "", ""}};

} // namespace

nvd_error *error_of(Error error) {
    return new nvd_error{std::move(error)};
}

nvd_error *invalid(const char *sentence) {
    return error_of({ErrorCode::invalid, 0, "", sentence});
}

nvd_error *out_of_memory() noexcept {
    return &no_memory;
}

} // namespace nvdebug::c

using namespace nvdebug;

const char *nvd_version(void) {
    return NVDEBUG_VERSION;
}

nvd_code nvd_error_code(const nvd_error *error) {
    return static_cast<nvd_code>(error->error.code);
}

int nvd_error_errno(const nvd_error *error) {
    return error->error.number;
}

const char *nvd_error_path(const nvd_error *error) {
    return error->error.path.c_str();
}

const char *nvd_error_sentence(const nvd_error *error) {
    return error == c::out_of_memory() ? "out of memory; end something else, then try again"
                                       : error->error.sentence.c_str();
}

void nvd_error_destroy(nvd_error *error) {
    if (error != c::out_of_memory())
        delete error;
}
