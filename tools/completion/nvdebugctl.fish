# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvdebugctl for fish. The tool itself says what may follow, so that ids are live.
function __nvdebugctl_complete
    set -l words (commandline -opc)
    set -l found ($words[1] __complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test "$found[1]" = '<file>'
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $found
    end
end
complete -c nvdebugctl -f -a '(__nvdebugctl_complete)'
