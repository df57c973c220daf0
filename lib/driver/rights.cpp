// SPDX-License-Identifier: MIT OR GPL-2.0
#include "rights.hpp"

#include <cerrno>

namespace nvdebug::driver {

std::string advice_on_device(Kernel &kernel, int number) {
    if (!kernel.is_root())
        return "use sudo";
    if (number == EPERM)
        return "the device cgroup of this container or unit forbids it: start the container anew "
               "('systemctl daemon-reload' takes devices from running ones), or give the unit "
               "DeviceAllow=char-nvidia*";
    return "root is refused by a security module (SELinux, AppArmor), or the file system is "
           "mounted with nodev; the kernel's log and 'ausearch -m avc' may say which";
}

std::string advice_on_right(Kernel &kernel, const std::string &right) {
    if (!kernel.is_root())
        return "use sudo";
    return "this container or unit has taken " + right +
           " from root: give it back (--cap-add= of containers, CapabilityBoundingSet= of units), "
           "or run this outside of it";
}

} // namespace nvdebug::driver
