# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvqos for bash: the program lists what may come, files where it lists nothing.
_nvqos() {
	local current="${COMP_WORDS[COMP_CWORD]}"
	mapfile -t COMPREPLY < <(nvqos __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [ ${#COMPREPLY[@]} -eq 0 ] && [[ "$current" != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -F _nvqos nvqos
