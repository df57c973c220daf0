#compdef nvtaskset
# SPDX-License-Identifier: MIT OR GPL-2.0
# The program lists what may come, or where the command begins that completes the rest.
_nvtaskset() {
	local -a found names shown
	found=("${(@f)$(nvtaskset __complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
	found=(${found:#})
	if [[ "${found[1]}" == @* ]]; then
		local -i before=$(( ${found[1]#@} + 1 ))
		shift $before words
		(( CURRENT -= before ))
		_normal
	elif (( $#found )); then
		names=("${(@)found%%$'\t'*}")
		shown=("${(@)found/$'\t'/  -- }")
		[[ "${names[1]}" == */ ]] && compadd -S '' -a names || compadd -l -d shown -a names
	fi
}
if [[ "${funcstack[1]}" == _nvtaskset ]]; then
	_nvtaskset "$@"
else
	compdef _nvtaskset nvtaskset
fi
