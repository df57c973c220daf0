// SPDX-License-Identifier: MIT OR GPL-2.0
#include "error.hpp"
#include "lib/base/text.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <sys/stat.h>

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

std::string errno_name(int number) {
    // The C library's name is ENOTSUP. On Linux both names have the same number.
    if (number == EOPNOTSUPP)
        return "EOPNOTSUPP";
    const char *const name = ::strerrorname_np(number);
    return name ? name : std::to_string(number);
}

int errno_of_name(std::string_view name) {
    constexpr int highest = 133; // EHWPOISON
    for (int number = 1; number <= highest; number++)
        if (errno_name(number) == name)
            return number;
    return 0;
}

namespace {

/// Why an operation failed, and what to do next.
struct Reason {
    int number;
    std::string_view file; ///< the file's name begins with this; empty: any file
    std::string_view sentence;
    std::string_view advice = {}; ///< for advised(), with Advice::diagnose as the command
};

constexpr std::string_view any;

// The first reason that fits is used.
constexpr Reason read_reasons[] = {
    {ENODEV, "lce_for_pce", "this PCE serves no LCE"},
    {ENODEV, "shared_lce_for_grce", "this GRCE borrows no LCE's PCEs"},
    {ENODEV, any,
     "the GPU answers with all ones: it is gone or asleep; let a program use it, then try again"},
    {EACCES, "translate",
     "permission denied; run this as root (other parameters of the module do not change that)"},
    {EACCES, "scheduling", "permission denied; run this as root"},
    {EACCES, any,
     "permission denied; run this as root, or load the module with state_gid=GID of a group of "
     "yours"},
    {EPERM, any, "the kernel does not permit it; run this as root",
     ", and see with '$' whether lockdown is on"},
    {EIO, "sm_map",
     "the graphics engine does not answer: it is powered down; let a program use it, then try "
     "again"},
    {EIO, "num_", "the register did not answer when the module found the GPU; load it again"},
    {EIO, "gpc", "the register did not answer when the module found the GPU; load it again"},
    {EIO, "local_memory", "the register was not set when the module found the GPU; load it again"},
    {EIO, any,
     "a register or memory that this needs answers with an error; the kernel log may say more"},
    {EOPNOTSUPP, any,
     "this memory can only be reached by moving the PRAMIN window, which is not done while a "
     "driver is bound, with pram_window=never, or under kernel lockdown ('info' has the reason); "
     "or it is system memory, which is read only while a driver is bound, and not under lockdown "
     "for confidentiality"},
    {EBUSY, any, "somebody else kept changing what was read; try again"},
    {EFAULT, any,
     "a list lies in system memory that the GPU's IOMMU does not map or that the kernel does not "
     "know; the driver may be about to replace it, so try again"},
    {EINTR, any, "interrupted by a signal; try again"},
    {EFBIG, any, "it is too long to be what docs/proc.md says"},
};

constexpr Reason open_reasons[] = {
    {EACCES, any, "permission denied"},
    {EISDIR, any, "it is a folder"},
    {EINVAL, any, "it is neither a file, a pipe nor a folder"},
    {EFBIG, any, "it holds more than 256 MiB, which no capture does"},
};

constexpr Reason write_reasons[] = {
    {EISDIR, any, "it is a folder"},
    {EEXIST, any, "it is no regular file (a device or a socket)"},
};

constexpr Reason control_reasons[] = {
    {EACCES, any, "permission denied; controls are root's, so run this as root"},
    {EPERM, "translate",
     "it takes CAP_SYS_ADMIN and CAP_SYS_RAWIO (run this as root), and kernel lockdown must be "
     "off"},
    {EPERM, any,
     "it takes CAP_SYS_ADMIN (run this as root), no kernel lockdown, and a module that is not "
     "loaded with read_only=1",
     "; '$' says which it is"},
    {EINVAL, "disable_channel",
     "no such runlist, or the channel is not in the list named; where ids are per runlist, write "
     "RUNLIST:ID"},
    {EINVAL, "enable_channel",
     "no such runlist, or the channel is not in the list named; where ids are per runlist, write "
     "RUNLIST:ID"},
    {EINVAL, "preempt_tsg",
     "no such runlist, or its list does not hold the TSG now; where several do, write RUNLIST:ID"},
    {EINVAL, "switch_to_tsg",
     "no such runlist, its list does not hold the TSG now (where several do, write RUNLIST:ID), or "
     "fewer channels follow the TSG's header than that says"},
    {EINVAL, "set_timeslice",
     "no such runlist, or its list does not hold the TSG now; where several do, write RUNLIST:ID"},
    {EINVAL, "preemption_mode",
     "no list holds the channel, several do (write RUNLIST:ID), or it has no graphics context"},
    {EINVAL, "translate",
     "not 'PDB[:APERTURE] VA [OPTION]' or 'RUNLIST:CHANNEL VA [base]'; or the page directory is no "
     "multiple of 4096, an option does not fit this chip, or no list holds the channel"},
    {EINVAL, any, "no such runlist, or not what this control takes"},
    {ERANGE, "set_timeslice",
     "an id that is too high, or a timeslice outside 1.024 to 8556380.160 microseconds"},
    {ERANGE, "translate", "the address is beyond what these page tables translate"},
    {ERANGE, any, "an id is higher than this GPU's highest"},
    {ENOSPC, any, "one open file holds 16 leases at most; end one, or open it again"},
    {E2BIG, "translate", "the request is longer than 255 bytes"},
    {E2BIG, any, "more than 256 targets or 4095 bytes at once; split the request"},
    {ETIMEDOUT, any,
     "the hardware did not report completion within a second; what had to be put back was"},
    {ENOTRECOVERABLE, any,
     "a runlist could not be submitted or restored, so the module refuses all controls of this "
     "GPU; "
     "reload the GPU's driver, then the module, or reboot"},
    {EOPNOTSUPP, "preemption_mode", "the context has no area to save its state to for CILP"},
    {EOPNOTSUPP, "switch_to_tsg",
     "user space drives this GPU (vfio), the list would lie beyond the addresses that the GPU "
     "takes, or memory can only be reached by moving the PRAMIN window, which is not allowed"},
    {EBUSY, "switch_to_tsg",
     "a driver submitted a list meanwhile, or is being bound or unbound; its list stays, so try "
     "again"},
    {EBUSY, "set_timeslice", "a driver submitted a list meanwhile, which stays; try again"},
    {EBUSY, any, "the list or context kept changing meanwhile; try again"},
    {EFAULT, "preemption_mode", "the channel's context is not mapped"},
    {EIO, "preemption_mode",
     "the context's image lacks its magic value, or does not answer; firmware that is not "
     "NVIDIA's has another"},
    {EIO, "preempt_",
     "a register answers with an error, or did not take the value; what was named before it stays "
     "preempted"},
    {EIO, "resubmit_runlist",
     "a register answers with an error, or did not take the value; runlists named before it stay "
     "resubmitted"},
    {EIO, any,
     "a register answers with an error, or did not take the value; the rest was put back"},
    {ENODATA, "translate", "there is no answer, since there was no request that worked"},
};

// Root gets these sentences in place of the ones above, which advise to run as root.
constexpr Reason root_read_reasons[] = {
    {EACCES, any,
     "permission is denied to root: this container or unit has taken CAP_DAC_OVERRIDE from it "
     "(give it back with --cap-add=, CapabilityBoundingSet=), or a security module (SELinux, "
     "AppArmor) forbids it"},
    {EPERM, any, "the kernel does not permit it to root: lockdown, or a container or unit",
     "; '$' says whether lockdown is on"},
};

constexpr Reason root_control_reasons[] = {
    {EACCES, any,
     "permission is denied to root: this container or unit has taken CAP_DAC_OVERRIDE from it "
     "(give it back with --cap-add=, CapabilityBoundingSet=), or a security module (SELinux, "
     "AppArmor) forbids it"},
    {EPERM, "translate",
     "root lacks CAP_SYS_ADMIN or CAP_SYS_RAWIO in this container or unit (give it back with "
     "--cap-add=, CapabilityBoundingSet=), or kernel lockdown is on"},
    {EPERM, any,
     "root lacks CAP_SYS_ADMIN in this container or unit (give it back with --cap-add=, "
     "CapabilityBoundingSet=), kernel lockdown is on, or the module is loaded with read_only=1",
     "; '$' says which it is"},
};

/// Returns the sentence of the first reason that fits, or else the C library's.
std::string reason_for(std::span<const Reason> reasons, std::string_view file, int number,
                       const Advice &advice = {}) {
    for (const Reason &reason : reasons)
        if (reason.number == number && file.starts_with(reason.file))
            return std::string(reason.sentence) + advised(reason.advice, advice.diagnose);
    const char *const known = ::strerrordesc_np(number);
    return known ? known : "error " + std::to_string(number);
}

/// Returns the sentence for root or for other users, if a right may be missing.
std::string reason_for(std::span<const Reason> of_root, std::span<const Reason> of_others,
                       std::string_view file, int number, const Advice &advice) {
    const bool is_right = number == EACCES || number == EPERM;
    return reason_for(is_right && ::geteuid() == 0 ? of_root : of_others, file, number, advice);
}

std::string_view file_of(std::string_view name) {
    return name.substr(name.rfind('/') + 1);
}

/// Returns the GPU's folder that @p name is, or is in; empty: neither.
std::string_view gpu_of(std::string_view name) {
    const std::string_view first = name.substr(0, name.find('/'));
    return first.starts_with("gpu") ? first : std::string_view();
}

std::string why_not_there(const Tree::Impl &tree, std::string_view name) {
    struct stat about {};
    const std::string folder = path_in(tree, gpu_of(name));
    if (tree.live && !gpu_of(name).empty() && ::stat(folder.c_str(), &about))
        return "there is no " + folder +
               ": the module nvdebug is not loaded, or found no such GPU" +
               advised("; '$' says which", tree.advice.diagnose);
    return tree.live ? "there is no such file; this chip or this version of the module does not "
                       "have it"
                     : "there is no such file in " + tree.path +
                           ": it did not exist, or was left out, when that was made";
}

} // namespace

std::string advised(std::string_view sentence, const std::string &command) {
    if (command.empty())
        return "";
    std::string text(sentence);
    if (const std::size_t place = text.find('$'); place != text.npos)
        text.replace(place, 1, command);
    return text;
}

Error cannot_open(const std::string &path, int number) {
    return {code_of_errno(number), number, path,
            "cannot open " + path + ": " + reason_for(open_reasons, path, number) +
                "; give a capture, or a folder that looks like /proc"};
}

Error cannot_write(const std::string &path, int number) {
    return {code_of_errno(number), number, path,
            "cannot write " + path + ": " + reason_for(write_reasons, path, number) +
                "; name another file"};
}

Error cannot_read(const Tree::Impl &tree, std::string_view name, int number) {
    const std::string path = path_in(tree, name);
    const std::string why = number == ENOENT ? why_not_there(tree, name)
                                             : reason_for(root_read_reasons, read_reasons,
                                                          file_of(name), number, tree.advice);
    return {code_of_errno(number), number, path, "cannot read " + path + ": " + why};
}

Error cannot_control(const Tree::Impl &tree, std::string_view name, std::string_view text,
                     int number) {
    const std::string path = path_in(tree, name);
    std::string why = number == ENOENT ? why_not_there(tree, name)
                                       : reason_for(root_control_reasons, control_reasons,
                                                    file_of(name), number, tree.advice);
    if (number == EINVAL && text.starts_with("lease "))
        why += "; or this version of the module knows no leases (do it without one, and undo it "
               "yourself)";
    return {code_of_errno(number), number, path,
            "'" + text::quote(text) + "' to " + path + " failed: " + why};
}

} // namespace nvdebug
