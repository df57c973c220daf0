# SPDX-License-Identifier: MIT OR GPL-2.0
# The program lists what may come, or where the command begins that completes the rest.
function __nvtaskset_complete
    # nvdebugctl's completion comes here, too.
    type -q nvtaskset; or return
    set -l words (commandline -opc) "$(commandline -ct)"
    set -e words[1]
    set -l found (nvtaskset __complete $words 2>/dev/null)
    if not string match -q -- '@*' $found[1]
        printf '%s\n' $found
        return
    end
    set -l command $words[(math (string sub -s 2 -- $found[1]) + 1)..-1]
    set -l current $command[-1]
    set -e command[-1]
    set -l line (string escape -- $command) "$(string escape -n -- $current)"
    complete -C "$line"
end
complete -c nvtaskset -x -a '(__nvtaskset_complete)'
