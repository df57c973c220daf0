# SPDX-License-Identifier: MIT OR GPL-2.0
complete -c nvstgm -a '(nvstgm __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
