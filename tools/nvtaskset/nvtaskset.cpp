// SPDX-License-Identifier: MIT OR GPL-2.0
#include <exception>

#include "cdi.hpp"
#include "change.hpp"
#include "command.hpp"
#include "image.hpp"
#include "lib/base/inherited.hpp"
#include "lib/cli/main.hpp"
#include "list.hpp"
#include "messages.hpp"
#include "mps.hpp"
#include "options.hpp"
#include "program.hpp"

namespace nvtaskset {
namespace {

Exit perform(const nvdebug::cli::Arguments &arguments) {
    Options options;
    std::string wrong = read(arguments, options);
    if (wrong.empty())
        wrong = contradiction(options);
    if (!wrong.empty())
        return refuse(options, {wrong + "; see 'nvtaskset --help'", Exit::bad_usage});
    if (options.quit_mps) {
        const auto quit = quit_mps();
        return !quit   ? refuse(quit.error())
               : *quit ? Exit::done
                       : refuse("nvtaskset has started no MPS server");
    }
    if (options.check_image)
        return check_image_of_state();
    return options.list           ? list_tasks(options)
           : options.pid          ? change_task(options)
           : !options.cdi.empty() ? write_device(options)
                                  : run_command(options);
}

} // namespace
} // namespace nvtaskset

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    constexpr nvtaskset::Exit exit = nvtaskset::Exit::failed;
    try {
        return nvdebug::cli::run(nvtaskset::program(), {argv + 1, argv + argc},
                                 [](const nvdebug::cli::Parsed &parsed) {
                                     return static_cast<int>(nvtaskset::perform(parsed.arguments));
                                 });
    } catch (const std::exception &error) {
        nvtaskset::say(error.what());
    }
    return static_cast<int>(exit);
}
