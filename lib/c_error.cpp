// SPDX-License-Identifier: MIT OR GPL-2.0
#include "c_api.hpp"

#include <cerrno>

namespace nvdebug::c {
namespace {

// Without strings that might need memory.
nvd_error no_memory{{ErrorCode::io, ENOMEM, "", ""}};
nvd_error internal{{ErrorCode::io, 0, "", ""}};

bool is_static(const nvd_error *error) {
    return error == &no_memory || error == &internal;
}

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

nvd_error *internal_error() noexcept {
    return &internal;
}

const char *sentence_of(const nvd_error *error) {
    if (error == &no_memory)
        return "out of memory; end something else, then try again";
    return error == &internal ? "libnvdebug failed in a way that it does not know; report it"
                              : error->error.sentence.c_str();
}

void destroy(nvd_error *error) {
    if (!is_static(error))
        delete error;
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
    return c::sentence_of(error);
}

void nvd_error_destroy(nvd_error *error) {
    c::destroy(error);
}
