// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control_files.hpp"

#include <cerrno>
#include <fcntl.h>

namespace nvdebug {

bool answers(std::string_view file) {
    return file == "translate" || file == "set_timeslice";
}

tl::expected<Performed, int> write_control(const std::string &path, std::string_view text,
                                           bool with_answer) {
    constexpr std::size_t longest_answer = std::size_t{1} << 20;
    Performed performed{
        Descriptor(::open(path.c_str(), (with_answer ? O_RDWR : O_WRONLY) | O_CLOEXEC)), ""};
    if (!performed.file)
        return tl::unexpected(errno);
    int error = write_once(performed.file.number(), text);
    if (!error && with_answer)
        error = read_rest(performed.file.number(), performed.answer, longest_answer);
    if (error)
        return tl::unexpected(error);
    return performed;
}

} // namespace nvdebug
