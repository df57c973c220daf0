// SPDX-License-Identifier: MIT OR GPL-2.0
#include "options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <getopt.h>

namespace nvtaskset {

const char *const help_text = R"(Keep a CUDA program, unmodified, to some TPCs of a GPU.

  nvtaskset [OPTION]... COMMAND [ARGUMENT]...   run it
  nvtaskset [OPTION]... -p PID                  change, or show, a task that runs
  nvtaskset --list                              TPCs of the GPUs, and the tasks that have them
  nvtaskset [OPTION]... --cdi NAME              a device for containers: nvdebug.io/tpcs=NAME

Which TPCs (two SMs each):
  -t, --tpcs LIST    these: 0-15,20
  -g, --gpcs LIST    all of these GPCs: 0,2
  -s, --sms N|N%     so many SMs: whole GPCs first, free ones before those of others
      --spread       with -s: some of each GPC instead, for bandwidth; beside others it keeps less
  -i, --gpu GPU      on this GPU, or several: 0,1; GPU-UUID; PCI address; all
                     (default: those that CUDA shows to COMMAND, or that the task has)
  -x, --exclusive    none that another task has

Tasks:
  -p, --pid          PID and its children, if they were started by nvtaskset
      --whole        with -p: the whole GPU again
      --prepare      run COMMAND with the whole GPU; -p can set TPCs later
      --no-mps       tasks take turns, instead of running at the same time (NVIDIA's MPS)
      --turn N       at the same time as other tasks of turn N (1 to 9); turns take turns
      --whole-count  the program sees the GPU's number of SMs, not the partition's
      --best-effort  let processes go on that cannot be kept to their TPCs
      --quit-mps     end nvtaskset's MPS server, and with it its clients' work

      --cdi NAME     write that device's file; containers with it are kept to the TPCs
      --cdi-folder FOLDER  there (default: /run/cdi, until the next boot; /etc/cdi stays)
      --check-image  what the file has runtimes run: fails if CUDA cannot load the library in the image

  -l, --list         with --probe: find out again which TPCs there are
  -j, --json         with --list or -p
  -q, --quiet        errors only
  -h, --help, -V, --version

Exit status: COMMAND's. If none was started: 0 done; 1 wrong usage; 2 failed; 3 this GPU or
driver does not support it; 4 not all GPUs could be shown; 126, 127: COMMAND cannot be run, or is not
there. 125: a process could not be kept to its TPCs and was ended. Manual: nvtaskset(1)
)";

namespace {

constexpr std::size_t device_name_max = 63;

/// Does CDI permit that name of a device? A longer one might be no file's.
bool is_device_name(const std::string &name) {
    const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    return !name.empty() && name.size() <= device_name_max && is_plain(name.front()) &&
           is_plain(name.back()) && std::ranges::all_of(name, [&](char c) {
               return is_plain(c) || std::strchr("_-.:", c) != nullptr;
           });
}

} // namespace

std::string parse(int argc, char **argv, Options &options) {
    enum Long {
        whole = 256,
        whole_count,
        prepare,
        no_mps,
        turn,
        best_effort,
        quit_mps,
        probe,
        spread,
        cdi,
        cdi_folder,
        check_image
    };
    static const option long_options[] = {{"tpcs", required_argument, nullptr, 't'},
                                          {"gpcs", required_argument, nullptr, 'g'},
                                          {"sms", required_argument, nullptr, 's'},
                                          {"spread", no_argument, nullptr, spread},
                                          {"gpu", required_argument, nullptr, 'i'},
                                          {"exclusive", no_argument, nullptr, 'x'},
                                          {"pid", no_argument, nullptr, 'p'},
                                          {"whole", no_argument, nullptr, whole},
                                          {"prepare", no_argument, nullptr, prepare},
                                          {"no-mps", no_argument, nullptr, no_mps},
                                          {"turn", required_argument, nullptr, turn},
                                          {"whole-count", no_argument, nullptr, whole_count},
                                          {"best-effort", no_argument, nullptr, best_effort},
                                          {"quit-mps", no_argument, nullptr, quit_mps},
                                          {"cdi", required_argument, nullptr, cdi},
                                          {"cdi-folder", required_argument, nullptr, cdi_folder},
                                          {"check-image", no_argument, nullptr, check_image},
                                          {"list", no_argument, nullptr, 'l'},
                                          {"probe", no_argument, nullptr, probe},
                                          {"json", no_argument, nullptr, 'j'},
                                          {"quiet", no_argument, nullptr, 'q'},
                                          {"help", no_argument, nullptr, 'h'},
                                          {"version", no_argument, nullptr, 'V'},
                                          {nullptr, 0, nullptr, 0}};
    bool of_task = false;
    opterr = 0;
    for (;;) {
        const int given = getopt_long(argc, argv, "+:t:g:s:i:xpljqhV", long_options, nullptr);
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
        case spread:
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
        case whole:
            options.whole = true;
            break;
        case prepare:
            options.prepare = true;
            break;
        case no_mps:
            options.mps = false;
            break;
        case turn:
            if (std::strlen(optarg) != 1 || *optarg < '1' || *optarg > '9')
                return "--turn takes a number from 1 to 9, not '" + std::string(optarg) + "'";
            options.turn = static_cast<std::uint32_t>(*optarg - '0');
            break;
        case whole_count:
            options.whole_count = true;
            break;
        case best_effort:
            options.best_effort = true;
            break;
        case quit_mps:
            options.quit_mps = true;
            break;
        case cdi:
            options.cdi = optarg;
            if (!is_device_name(options.cdi))
                return "--cdi takes a name of letters, digits and _-.: that begins and ends with a "
                       "letter or digit, not '" +
                       options.cdi + "'";
            break;
        case cdi_folder:
            options.cdi_folder = optarg;
            options.cdi_folder_named = true;
            break;
        case check_image:
            options.check_image = true;
            break;
        case 'l':
            options.list = true;
            break;
        case probe:
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
    if (ways + options.whole + options.prepare > 1)
        return "-t, -g, -s, --whole and --prepare exclude each other; give one of them";
    if (options.placement == Placement::spread && options.size.empty())
        return "--spread has an effect with -s alone; give the number of SMs";
    if (options.whole && !options.pid)
        return "--whole changes a running task; name it with -p PID";
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
    if (options.json && !options.list && (!options.pid || ways || options.whole))
        return "--json has an effect with --list, and with -p that shows a task";
    if (!jobs)
        return ways || options.prepare ? "no COMMAND to run is given"
                                       : "nothing to do: give a COMMAND, -p or --list";
    if (!options.command.empty() && !ways && !options.prepare)
        return "no TPCs are chosen: give -t, -g or -s, or --prepare to set them later";
    return "";
}

} // namespace nvtaskset
