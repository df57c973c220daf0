// SPDX-License-Identifier: MIT OR GPL-2.0
#include "options.hpp"

#include <string_view>

#include "lib/base/gpu_name.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/words.hpp"
#include "lib/partition/gate.hpp"

namespace nvtaskset {

using nvdebug::base::parse_whole;
using nvdebug::base::quote;

std::optional<Size> parse_size(const std::string &text) {
    constexpr std::int64_t most = 99'999;
    if (const auto percent = nvdebug::base::parse_percent(text))
        return Size{0, *percent};
    if (const auto sms = parse_whole(text, 1, most))
        return Size{static_cast<std::size_t>(*sms), 0};
    return std::nullopt;
}

namespace {

/// Returns a sentence on an error in the choice of TPCs and GPUs that does not depend on the GPU,
/// or nothing.
std::string wrong_choice(const Options &options) {
    for (const auto &[text, what] : {std::pair(options.tpcs, "TPC"), {options.gpcs, "GPC"}})
        if (!text.empty())
            if (const auto list = parse_list(text, what, any_gpu);
                !list && list.error().exit == Exit::bad_usage)
                return list.error().sentence;
    if (!options.size.empty() && !parse_size(options.size))
        return "--sms takes a number of SMs, or a part as 25%, not " + quote(options.size) +
               (options.size.find('.') == std::string::npos
                    ? ""
                    : nvdebug::base::percent_guess(options.size));
    // A part of a GPU (MIG) is left to select(), which has another exit status for it.
    if (options.gpu && !nvdebug::base::parse_gpu_name(*options.gpu).mig)
        if (const auto names = nvdebug::base::parse_gpu_names(*options.gpu); !names)
            return names.error();
    return "";
}

} // namespace

std::string read(const nvdebug::cli::Arguments &arguments, Options &options) {
    options.command = arguments.words;
    options.tpcs = arguments.text("--tpcs");
    options.gpcs = arguments.text("--gpcs");
    options.size = arguments.text("--sms");
    if (arguments.has("--gpu"))
        options.gpu = arguments.text("--gpu");
    if (arguments.has("--spread"))
        options.placement = Placement::spread;
    options.exclusive = arguments.has("--exclusive");
    options.whole = arguments.has("--whole");
    options.kernels = arguments.text("--kernels");
    // Without TPCs the command has the whole GPU.
    options.prepare =
        arguments.has("--prepare") || (!options.kernels.empty() && !options.names_tpcs());
    options.mps = !arguments.has("--no-mps");
    options.whole_count = arguments.has("--whole-count");
    options.best_effort = arguments.has("--best-effort");
    options.quit_mps = arguments.has("--quit-mps");
    options.check_image = arguments.has("--check-image");
    options.probe = arguments.has("--probe");
    options.list = options.probe || arguments.has("--list");
    options.json = arguments.has("--json");
    options.quiet = arguments.has("--quiet");
    options.cdi = arguments.text("--cdi");
    options.cdi_folder_named = arguments.has("--cdi-folder");
    options.cdi_folder = arguments.text("--cdi-folder", options.cdi_folder);
    if (arguments.has("--pid")) {
        const auto pid = parse_whole(arguments.text("--pid"), 1, std::numeric_limits<pid_t>::max());
        if (!pid)
            return quote(arguments.text("--pid")) + " is no PID";
        options.pid = static_cast<pid_t>(*pid);
    }
    const auto turn = arguments.number("--turn", 0, 1, 9);
    if (!turn)
        return turn.error();
    options.turn = static_cast<std::uint32_t>(*turn);
    const auto in_flight = arguments.number("--in-flight", 0, 0, in_flight_max);
    if (!in_flight)
        return in_flight.error() + "; 0 is no limit";
    if (arguments.has("--in-flight"))
        options.in_flight = static_cast<std::uint32_t>(*in_flight);
    if (!options.cdi.empty() && !nvdebug::base::is_device_name(options.cdi))
        return "--cdi takes a name of letters, digits and _-.: that begins and ends with a letter "
               "or digit, not " +
               quote(options.cdi);
    return wrong_choice(options);
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
    if (!options.kernels.empty() && options.command.empty())
        return "--kernels needs a COMMAND to start";
    if (ways + options.whole + options.prepare + options.in_flight.has_value() > 1)
        return "-t, -g, -s, --whole, --in-flight and --prepare exclude each other; give one of "
               "them";
    if (ways && options.command.empty() && !options.pid && options.cdi.empty() && jobs)
        return "-t, -g and -s choose TPCs for a COMMAND, -p or --cdi; leave them out";
    if (options.exclusive && !ways)
        return "--exclusive has an effect with -t, -g or -s alone; give one of them";
    if (options.placement == Placement::spread && options.size.empty())
        return "--spread has an effect with -s alone; give the number of SMs";
    if (options.whole && !options.pid)
        return "--whole changes a running task; name it with -p PID";
    if (options.in_flight && !options.pid)
        return "--in-flight changes a running task; name it with -p PID";
    if (options.prepare && options.pid)
        return "--prepare starts a COMMAND; a running process cannot be prepared any more";
    for (const auto &[given, name] :
         {std::pair(options.whole_count, "--whole-count"), {options.best_effort, "--best-effort"}})
        if (given && options.command.empty() && options.cdi.empty())
            return std::string(name) + " needs a COMMAND to start";
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
