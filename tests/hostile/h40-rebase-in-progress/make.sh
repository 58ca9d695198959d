#!/usr/bin/env bash
# An interactive rebase of main stopped half-way: HEAD is detached, the checkout is clean.
. "$(dirname "$0")/../lib.sh"
mk_repo "$DIR/repo"; cd "$DIR/repo"
for n in 1 2; do echo "$n" > n.txt; commit_all . "n is $n"; done
git -c "sequence.editor=sed -i 1s/pick/edit/" rebase -q -i HEAD~2 2> /dev/null
