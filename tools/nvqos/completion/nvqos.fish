# SPDX-License-Identifier: MIT OR GPL-2.0
complete -c nvqos -a '(nvqos __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
