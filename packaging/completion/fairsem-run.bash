# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# fairsem-run.bash - completes fairsem-run in bash: options, and the program.
_fairsem_run() {
  local cur=${COMP_WORDS[COMP_CWORD]} at=1

  COMPREPLY=()
  while ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == -* ]]; do
    ((at++))
    [[ ${COMP_WORDS[at]} != = ]] || ((at += 2))
  done
  if ((at == COMP_CWORD)) && [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '--bypass= --stats --libc --check --version --help' -- "$cur")
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2> /dev/null
  elif ((at > COMP_CWORD)); then
    [[ ${COMP_WORDS[*]} != *--bypass* ]] || return
    mapfile -t COMPREPLY < <(compgen -f -- "${cur#=}")
  elif declare -F _command_offset > /dev/null; then
    _command_offset "$at"
  else
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  fi
}

complete -F _fairsem_run fairsem-run
