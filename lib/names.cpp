// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/error.hpp"
#include "nvdebug/memory.hpp"

#include <cerrno>

namespace nvdebug {

ErrorCode code_of_errno(int number) {
    switch (number) {
    case ENOENT:
        return ErrorCode::not_found;
    case EPERM:
    case EACCES:
        return ErrorCode::denied;
    case ENODEV:
        return ErrorCode::gone;
    case EOPNOTSUPP:
        return ErrorCode::unsupported;
    case EBUSY:
        return ErrorCode::busy;
    case EINVAL:
    case ERANGE:
    case E2BIG:
    case ENOSPC:
        return ErrorCode::invalid;
    case ETIMEDOUT:
        return ErrorCode::timeout;
    default:
        return ErrorCode::io;
    }
}

const char *name_of(ErrorCode code) {
    switch (code) {
    case ErrorCode::not_found:
        return "not_found";
    case ErrorCode::denied:
        return "denied";
    case ErrorCode::gone:
        return "gone";
    case ErrorCode::unsupported:
        return "unsupported";
    case ErrorCode::busy:
        return "busy";
    case ErrorCode::invalid:
        return "invalid";
    case ErrorCode::timeout:
        return "timeout";
    case ErrorCode::io:
        return "io";
    case ErrorCode::malformed:
        return "malformed";
    }
    return "unknown";
}

const char *name_of(Aperture aperture) {
    switch (aperture) {
    case Aperture::video:
        return "vid";
    case Aperture::coherent:
        return "coh";
    case Aperture::noncoherent:
        return "ncoh";
    case Aperture::invalid:
        return "invalid";
    case Aperture::peer:
        return "peer";
    }
    return "unknown";
}

} // namespace nvdebug
