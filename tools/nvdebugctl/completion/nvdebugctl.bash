# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvdebugctl for bash. The tool itself lists the candidates, so that ids are live.
_nvdebugctl_passed() {
	# The words behind the one of that number are nvtaskset's. It is found in COMP_WORDS by the length of what is before.
	local n length=0 rest="${COMP_LINE:0:COMP_POINT}"
	for ((n = 0; n <= $1; n++)); do
		rest="${rest#*"${words[n]}"}"
		((length += ${#words[n]}))
	done
	for ((n = 0; length > 0; n++)); do
		((length -= ${#COMP_WORDS[n]}))
	done
	COMP_LINE="nvtaskset$rest"
	COMP_POINT=${#COMP_LINE}
	COMP_WORDS=(nvtaskset "${COMP_WORDS[@]:n:COMP_CWORD-n+1}")
	COMP_CWORD=$((COMP_CWORD - n + 1))
	declare -F _nvtaskset >/dev/null || _completion_loader nvtaskset 2>/dev/null
	declare -F _nvtaskset >/dev/null && _nvtaskset
	return 0
}
_nvdebugctl() {
	# COMP_WORDS is split at ':' and '=', which are part of ids, PCI addresses and options.
	local line="${COMP_LINE:0:COMP_POINT}" words current option="" breaks n
	read -ra words <<<"$line"
	[[ "$line" == *[[:space:]] ]] && words+=("")
	current="${words[-1]}"

	mapfile -t COMPREPLY < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
	if [[ "${COMPREPLY[0]}" == '<nvtaskset>'* ]]; then
		n="${COMPREPLY[0]#*>}" COMPREPLY=()
		_nvdebugctl_passed "$n"
		return
	fi
	if [[ "${COMPREPLY[*]: -1}" == '<file>' ]]; then
		unset 'COMPREPLY[-1]'
		[[ "$current" == --*=* ]] && option="${current%%=*}="
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(
			compgen -P "$option" -f -- "${current#"$option"}")
		compopt -o filenames 2>/dev/null
	fi
	# Only what follows the last of these characters is to be put in.
	breaks="${COMP_WORDBREAKS//[^:=]/}"
	if [[ -n "$breaks" ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*["$breaks"]}"}"}")
	fi
	return 0
}
complete -F _nvdebugctl nvdebugctl
