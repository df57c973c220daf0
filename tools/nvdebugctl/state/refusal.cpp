// SPDX-License-Identifier: MIT OR GPL-2.0
#include "refusal.hpp"

#include <fmt/format.h>

namespace nvdebugctl {

const std::string *parameter(const Machine &machine, const std::string &name) {
    const auto found = machine.module.parameters.find(name);
    return found == machine.module.parameters.end() ? nullptr : &found->second;
}

bool is_set(const Machine &machine, const std::string &name) {
    const std::string *value = parameter(machine, name);
    return value && *value == "Y";
}

std::string rights_lacking(const Rights &rights) {
    if (rights.user_namespace)
        return "controls need CAP_SYS_ADMIN outside of this user namespace (container)";
    return rights.sys_admin ? "" : "controls need CAP_SYS_ADMIN";
}

std::optional<std::string> controls_refused(const Machine &machine) {
    if (is_set(machine, "read_only"))
        return "the module was loaded with read_only=1; load it again without";
    const auto &lockdown = machine.kernel.lockdown;
    if (lockdown && *lockdown != "none")
        return fmt::format("kernel lockdown is in force ({}), until a reboot without it",
                           *lockdown);
    if (const std::string lacking = rights_lacking(machine.rights); !lacking.empty())
        return lacking + "; run this as root";
    return std::nullopt;
}

std::optional<std::string> controls_refused(const std::string &root) {
    return controls_refused(gather_without_gpus(root));
}

} // namespace nvdebugctl
