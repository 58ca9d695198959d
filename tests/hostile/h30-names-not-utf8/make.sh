#!/usr/bin/env bash
# File names in Latin-1, as old archives and Windows shares leave them: not valid UTF-8.
. "$(dirname "$0")/../lib.sh"
mk_pkg "$DIR/repo"; cd "$DIR/repo"
mkdir docs; echo a > $'docs/caf\xe9.txt'; echo b > $'M\xfcller.txt'; ln -s $'M\xfcller.txt' $'a link to M\xfcller'
git init -q -b main; commit_all . "Initial import"
