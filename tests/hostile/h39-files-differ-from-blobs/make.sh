#!/usr/bin/env bash
# What lies in the checkout is not what git keeps: CRLF and UTF-16 by attributes, a filter, a sparse checkout, ignored files.
. "$(dirname "$0")/../lib.sh"
mk_pkg "$DIR/repo"; cd "$DIR/repo"
printf '*.py text eol=crlf\n*.md text eol=crlf\n*.u16 working-tree-encoding=UTF-16\n*.up filter=up\n' > .gitattributes
git init -q -b main; git config filter.up.clean 'tr a-z A-Z'; git config filter.up.smudge 'tr A-Z a-z'
printf 'caf\xc3\xa9\n' | iconv -f UTF-8 -t UTF-16 > menu.u16; echo "loud" > voice.up
mkdir -p tables; for n in 1 2 3; do echo "table $n" > tables/$n.txt; done
commit_all . "Initial import" 2> /dev/null
rm -r mathkit tests README.md; git checkout -q -- .
git sparse-checkout set --cone mathkit tests
echo "*.mine" >> .git/info/exclude; echo "only here" > notes.mine
