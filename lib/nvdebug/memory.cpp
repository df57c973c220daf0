// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/memory.hpp"

namespace nvdebug {

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
