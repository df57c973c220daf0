# SPDX-License-Identifier: MIT OR GPL-2.0
function __nvtaskset_gpus
    set -l folder /proc/driver/nvidia
    test -n "$NVTASKSET_DRIVER_FOLDER"; and set folder $NVTASKSET_DRIVER_FOLDER
    echo all
    set -l number 0
    for gpu in $folder/gpus/*
        echo $number
        set number (math $number + 1)
    end
end
# The command, behind nvtaskset's own words; -t and the like take the next word, also as the last of joined letters.
function __nvtaskset_command
    set -l words (commandline -opc) "$(commandline -ct)"
    set -e words[1]
    while set -q words[2]
        switch $words[1]
            case --
                set -e words[1]
                break
            case --tpcs --gpcs --sms --gpu --pid --turn --cdi --cdi-folder
                set -e words[1]
            case '--*'
            case '-*'
                string match -qr -- '^-[^tgsip]*[tgsip]$' $words[1]; and set -e words[1]
            case '*'
                break
        end
        set -e words[1]
    end
    string match -q -- '-*' $words[1]; and return
    set -l current $words[-1]
    set -e words[-1]
    set -l before (string escape -- $words) "$(string escape -n -- $current)"
    complete -C "$before"
end
complete -c nvtaskset -x -a '(__nvtaskset_command)'
complete -c nvtaskset -x -s t -l tpcs -d 'these TPCs'
complete -c nvtaskset -x -s g -l gpcs -d 'all TPCs of these GPCs'
complete -c nvtaskset -x -s s -l sms -d 'so many SMs, or percent'
complete -c nvtaskset -l spread -d 'some of each GPC, instead of whole ones'
complete -c nvtaskset -x -s i -l gpu -a '(__nvtaskset_gpus)' -d 'on this GPU'
complete -c nvtaskset -s x -l exclusive -d 'none that another task has'
complete -c nvtaskset -x -s p -l pid -a '(__fish_complete_pids)' -d 'a task that runs'
complete -c nvtaskset -l whole -d 'the whole GPU again'
complete -c nvtaskset -l prepare -d 'the whole GPU; TPCs can be set later'
complete -c nvtaskset -l no-mps -d 'tasks take turns'
complete -c nvtaskset -x -l turn -a '1 2 3 4 5 6 7 8 9' -d 'at the same time as others of this turn'
complete -c nvtaskset -l whole-count -d 'the program sees the number of SMs of the GPU'
complete -c nvtaskset -l best-effort -d 'let processes go on that cannot be kept'
complete -c nvtaskset -l quit-mps -d 'end the MPS servers'
complete -c nvtaskset -x -l cdi -d 'a device for containers of this name'
complete -c nvtaskset -x -l cdi-folder -a '(__fish_complete_directories)' -d 'where its file is written'
complete -c nvtaskset -l check-image -d 'check an image (a hook of container runtimes)'
complete -c nvtaskset -s l -l list -d 'TPCs, and who has them'
complete -c nvtaskset -l probe -d 'find out again'
complete -c nvtaskset -s j -l json -d 'JSON'
complete -c nvtaskset -s q -l quiet -d 'errors only'
complete -c nvtaskset -s h -l help -d help
complete -c nvtaskset -s V -l version -d version
