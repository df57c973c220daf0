# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvdebugctl for fish. The tool itself lists the candidates, so that ids are live.
function __nvdebugctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] __complete -- $words[2..-1] $current 2>/dev/null)
    if set -l number (string match -r -g -- '^<nvtaskset>(\d+)' "$found[1]")
        set -l passed nvtaskset (string escape -- $words[(math $number + 2)..-1]) "$(string escape -n -- $current)"
        set found (complete -C "$passed")
    else if test "$found[-1]" = '<file>'
        set -e found[-1]
        set -l option (string match -r -- '^--[^=]*=' $current)
        set -a found "$option"(__fish_complete_path (string replace -- "$option" '' $current))
    end
    printf '%s\n' $found
end
complete -c nvdebugctl -f -a '(__nvdebugctl_complete)'
