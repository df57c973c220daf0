// SPDX-License-Identifier: MIT OR GPL-2.0
#include <cstdio>
#include <exception>
#include <string_view>

#include "cdi.hpp"
#include "change.hpp"
#include "command.hpp"
#include "completion.hpp"
#include "image.hpp"
#include "lib/base/inherited.hpp"
#include "list.hpp"
#include "messages.hpp"
#include "mps.hpp"
#include "option_table.hpp"
#include "options.hpp"

namespace nvtaskset {
namespace {

Exit main(int argc, char **argv) {
    if (argc > 1 && std::string_view(argv[1]) == "__complete") {
        for (const std::string &line : completions({argv + 2, argv + argc}))
            std::printf("%s\n", line.c_str());
        return written(Exit::done);
    }
    Options options;
    std::string wrong = parse(argc, argv, options);
    if (options.help || options.version) {
        std::fputs(options.help ? help().c_str() : "nvtaskset " NVTASKSET_VERSION "\n", stdout);
        return written(Exit::done);
    }
    if (wrong.empty())
        wrong = contradiction(options);
    if (!wrong.empty())
        return refuse(wrong + " (nvtaskset --help)", Exit::bad_usage);
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
    nvtaskset::Exit exit = nvtaskset::Exit::failed;
    try {
        exit = nvtaskset::main(argc, argv);
    } catch (const std::exception &error) {
        nvtaskset::say(error.what());
    }
    return static_cast<int>(exit);
}
