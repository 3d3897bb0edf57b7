# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# fairsem-limit.bash - completes fairsem-limit in bash: options, existing names, the limit of a name, and
# the command.

# _fairsem_limit_status OPTION... - print "NAME LIMIT" for each name; with --global, for each global name.
_fairsem_limit_status() {
  local kind='\([^ ]*\)'
  [[ " $* " != *' --global '* ]] || kind='\([^ ]*\) (all users)'
  fairsem-limit "$@" --status 2> /dev/null |
    sed -n "s/^$kind: limit \\([0-9]*\\), free .*, running .*/\\1 \\2/p"
}

_fairsem_limit() {
  local cur=${COMP_WORDS[COMP_CWORD]} at=1 run=yes option waits_for='' cluster='' global=() dir=()
  local options='--units= --wait= --conflict-exit-code= --priority= --quiet --global --keep --dir= --exec --hold=
    --rate= --share= --status --watch --set-limit= --remove --force --cluster --ttl= --keep-running --version --help'

  # Options, up to the cursor.  Readline makes three words of --dir=/run.
  COMPREPLY=()
  while ((at < COMP_CWORD)) && [[ ${COMP_WORDS[at]} == -* ]]; do
    option=${COMP_WORDS[at]} waits_for=''
    ((at++))
    case $option in
      --) break ;;
      -g | --global) global=(--global) ;;
      --cluster) cluster=yes ;;
      --status | --remove) run='' ;;
      --set-limit) run='' waits_for=$option ;;
      -[nwpE] | --units | --wait | --priority | --conflict-exit-code | --dir | --hold | --rate | --share | --ttl)
        waits_for=$option ;;
    esac
    if [[ ${COMP_WORDS[at]} == = ]] && ((at <= COMP_CWORD)); then
      ((at == COMP_CWORD)) && cur=''
      waits_for=$option
      ((at++))
    fi
    [[ -n $waits_for ]] || continue
    if ((at >= COMP_CWORD)); then
      case $waits_for in
        --dir) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        --status) mapfile -t COMPREPLY < <(compgen -W "json prometheus" -- "$cur") ;;
        --share) mapfile -t COMPREPLY < <(compgen -W user -- "$cur") ;;
      esac
      return
    fi
    [[ $waits_for != --dir ]] || dir=("--dir=${COMP_WORDS[at]}")
    ((at++))
  done

  if ((at == COMP_CWORD)) && [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2> /dev/null
  elif [[ -n $cluster ]] && ((at + 1 >= COMP_CWORD)); then
    return      # etcd is not asked
  elif ((at == COMP_CWORD)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_fairsem_limit_status "${global[@]}" "${dir[@]}" |
      sed 's/ .*//')" -- "$cur")
  elif [[ -z $run ]]; then
    return
  elif ((at + 1 == COMP_CWORD)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_fairsem_limit_status "${global[@]}" "${dir[@]}" |
      awk -v name="${COMP_WORDS[at]}" '$1 == name { print $2 }')" -- "$cur")
  else
    ((at += 2))
    [[ ${COMP_WORDS[at]} != -- ]] || ((at == COMP_CWORD)) || ((at++))
    if declare -F _command_offset > /dev/null; then
      _command_offset "$at"
    elif ((at == COMP_CWORD)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
  fi
}

complete -F _fairsem_limit fairsem-limit
