# SPDX-License-Identifier: MIT OR GPL-2.0
# Completion of nvdebugctl for bash. The tool itself says what may follow, so that ids are live.
_nvdebugctl() {
	local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
	local current="${COMP_WORDS[COMP_CWORD]}"
	local candidates
	# Bash splits words at '='; and at ':', which is part of ids and PCI addresses.
	if declare -F _get_comp_words_by_ref >/dev/null; then
		local cword
		_get_comp_words_by_ref -n ':=,' -c current -w words -i cword
		words=("${words[@]:1:cword}")
	fi
	candidates=$("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null) || return 0
	mapfile -t COMPREPLY <<<"$candidates"
	[ -n "$candidates" ] || COMPREPLY=()
	if [ "${COMPREPLY[0]}" = '<file>' ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		compopt -o filenames 2>/dev/null
	elif declare -F __ltrim_colon_completions >/dev/null; then
		__ltrim_colon_completions "$current"
	fi
	return 0
}
complete -F _nvdebugctl nvdebugctl
