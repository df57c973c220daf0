# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvdebugctl for bash. The tool itself says what may follow, so that ids are live.
_nvdebugctl() {
	# COMP_WORDS is split at ':' and '=', which are part of ids, PCI addresses and options.
	local line="${COMP_LINE:0:COMP_POINT}" words current option="" breaks
	read -ra words <<<"$line"
	[[ "$line" == *[[:space:]] ]] && words+=("")
	current="${words[-1]}"

	mapfile -t COMPREPLY < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
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
