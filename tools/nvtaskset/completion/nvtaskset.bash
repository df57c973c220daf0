# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvtaskset for bash: the program lists what may come, or where the command begins that completes the rest.
_nvtaskset() {
	# COMP_WORDS is split at '=' where COMP_WORDBREAKS has it: '--gpu=1' is then '--gpu', '=', '1'.
	local -a words=() places=() found=()
	local word n kept=
	for ((n = 0; n < ${#COMP_WORDS[@]} && n <= COMP_CWORD; n++)); do
		word="${COMP_WORDS[n]}"
		if ((n > 1)) && [[ "$word" == '=' && "${words[-1]}" == --* ]] ||
			{ ((n > 2)) && [[ "${COMP_WORDS[n - 1]}" == '=' && "${words[-1]}" == --*= ]]; }; then
			words[-1]+="$word"
			places[-1]=$n
		else
			words+=("$word")
			places+=("$n")
		fi
	done
	# What bash replaces is the last of its own words.
	[[ "${words[-1]}" == --*=* && "$COMP_WORDBREAKS" == *=* ]] && kept="${words[-1]%%=*}="
	mapfile -t found < <(nvtaskset __complete "${words[@]:1}" 2>/dev/null)
	if [[ "${found[0]}" != @* ]]; then
		found=("${found[@]%%$'\t'*}")
		COMPREPLY=("${found[@]#"$kept"}")
		[[ "${found[0]}" == */ ]] && compopt -o nospace
	elif n=$((${found[0]#@} + 1)) && ((n == ${#words[@]} - 1)); then
		mapfile -t COMPREPLY < <(compgen -c -- "${words[-1]}")
	elif declare -F _command_offset >/dev/null; then
		_command_offset "${places[n]}"
	fi
}
complete -F _nvtaskset nvtaskset
