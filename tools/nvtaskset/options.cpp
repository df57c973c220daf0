// SPDX-License-Identifier: MIT OR GPL-2.0
#include "options.hpp"

#include <charconv>
#include <cstring>
#include <getopt.h>
#include <vector>

#include "lib/partition/gate.hpp"
#include "option_table.hpp"

namespace nvtaskset {

std::string parse(int argc, char **argv, Options &options) {
    std::string letters = "+:";
    std::vector<option> long_options;
    for (const Option &one : option_table()) {
        const int has_value = one.takes_value() ? required_argument : no_argument;
        long_options.push_back({one.name, has_value, nullptr, one.id});
        if (one.has_letter())
            letters += static_cast<char>(one.id) + std::string(one.takes_value() ? ":" : "");
    }
    long_options.push_back({nullptr, 0, nullptr, 0});
    bool of_task = false;
    opterr = 0;
    for (;;) {
        const int given = getopt_long(argc, argv, letters.c_str(), long_options.data(), nullptr);
        switch (given) {
        case 't':
            options.tpcs = optarg;
            break;
        case 'g':
            options.gpcs = optarg;
            break;
        case 's':
            options.size = optarg;
            break;
        case opt_spread:
            options.placement = Placement::spread;
            break;
        case 'i':
            options.gpu = optarg;
            break;
        case 'x':
            options.exclusive = true;
            break;
        case 'p':
            of_task = true;
            break;
        case opt_whole:
            options.whole = true;
            break;
        case opt_prepare:
            options.prepare = true;
            break;
        case opt_no_mps:
            options.mps = false;
            break;
        case opt_turn:
            if (std::strlen(optarg) != 1 || *optarg < '1' || *optarg > '9')
                return "--turn takes a number from 1 to 9, not '" + std::string(optarg) + "'";
            options.turn = static_cast<std::uint32_t>(*optarg - '0');
            break;
        case opt_in_flight: {
            const std::string_view word = optarg;
            std::uint32_t number = 0;
            const auto [end, error] =
                std::from_chars(word.data(), word.data() + word.size(), number);
            if (error != std::errc() || end != word.data() + word.size() || number > in_flight_max)
                return "--in-flight takes a number of launches from 1 to " +
                       std::to_string(in_flight_max) + ", or 0 for no limit, not '" +
                       std::string(word) + "'";
            options.in_flight = number;
            break;
        }
        case opt_whole_count:
            options.whole_count = true;
            break;
        case opt_best_effort:
            options.best_effort = true;
            break;
        case opt_quit_mps:
            options.quit_mps = true;
            break;
        case opt_cdi:
            options.cdi = optarg;
            if (!nvdebug::base::is_device_name(options.cdi))
                return "--cdi takes a name of letters, digits and _-.: that begins and ends with a "
                       "letter or digit, not '" +
                       options.cdi + "'";
            break;
        case opt_cdi_folder:
            options.cdi_folder = optarg;
            options.cdi_folder_named = true;
            break;
        case opt_check_image:
            options.check_image = true;
            break;
        case 'l':
            options.list = true;
            break;
        case opt_probe:
            options.probe = options.list = true;
            break;
        case 'j':
            options.json = true;
            break;
        case 'q':
            options.quiet = true;
            break;
        case 'h':
            options.help = true;
            return "";
        case 'V':
            options.version = true;
            return "";
        case ':':
            return std::string(argv[optind - 1]) + " takes a value";
        case '?':
            return std::string("there is no option ") + argv[optind - 1];
        default:
            // The PID may stand before other options, as the COMMAND may not.
            if (!of_task || options.pid || optind >= argc || !std::strcmp(argv[optind - 1], "--")) {
                options.command.assign(argv + optind, argv + argc);
                return of_task && !options.pid ? "-p needs the PID of a process" : "";
            }
            const std::string_view word = argv[optind++];
            const auto [end, error] =
                std::from_chars(word.data(), word.data() + word.size(), options.pid);
            if (error != std::errc() || end != word.data() + word.size() || options.pid <= 0)
                return "'" + std::string(word) + "' is no PID";
        }
    }
}

std::string contradiction(const Options &options) {
    const int ways = !options.tpcs.empty() + !options.gpcs.empty() + !options.size.empty();
    const int jobs = !options.command.empty() + (options.pid > 0) + options.list +
                     options.quit_mps + !options.cdi.empty() + options.check_image;
    if (jobs > 1)
        return options.pid && !options.command.empty()
                   ? "unexpected argument '" + options.command[0] +
                         "': -p is about a running process"
                   : "a COMMAND, -p, --list, --cdi, --check-image and --quit-mps exclude each "
                     "other; "
                     "give one of them";
    if (ways + options.whole + options.prepare + options.in_flight.has_value() > 1)
        return "-t, -g, -s, --whole, --in-flight and --prepare exclude each other; give one of "
               "them";
    if (options.placement == Placement::spread && options.size.empty())
        return "--spread has an effect with -s alone; give the number of SMs";
    if (options.whole && !options.pid)
        return "--whole changes a running task; name it with -p PID";
    if (options.in_flight && !options.pid)
        return "--in-flight changes a running task; name it with -p PID";
    if (options.prepare && options.pid)
        return "--prepare starts a COMMAND; a running process cannot be prepared any more";
    if (options.whole_count && options.command.empty() && options.cdi.empty())
        return "--whole-count needs a COMMAND to start";
    if (options.cdi_folder_named && options.cdi.empty())
        return "--cdi-folder is where --cdi writes; give the device's NAME with --cdi";
    if (!options.cdi.empty() && !ways && !options.prepare)
        return "no TPCs are chosen: give -t, -g or -s, or --prepare to set them later";
    if (options.turn && (!options.mps || options.command.empty() || options.prepare))
        return "--turn needs a COMMAND with TPCs, and MPS; leave out --no-mps and --prepare";
    if (options.json && !options.list &&
        (!options.pid || ways || options.whole || options.in_flight))
        return "--json has an effect with --list, and with -p that shows a task";
    if (!jobs)
        return ways || options.prepare ? "no COMMAND to run is given"
                                       : "nothing to do: give a COMMAND, -p or --list";
    if (!options.command.empty() && !ways && !options.prepare)
        return "no TPCs are chosen: give -t, -g or -s, or --prepare to set them later";
    return "";
}

} // namespace nvtaskset
