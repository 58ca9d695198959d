#!/usr/bin/env bash
# A file is kept by git-lfs, which the configuration requires and which is not installed.
. "$(dirname "$0")/../lib.sh"
mk_pkg "$DIR/repo"; cd "$DIR/repo"
printf '*.bin filter=lfs diff=lfs merge=lfs -text\n' > .gitattributes
mkdir assets; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 123456\n' 7 > assets/model.bin
git init -q -b main; commit_all . "Initial import"
for what in clean smudge; do git config filter.lfs.$what "absent-git-lfs $what -- %f"; done
git config filter.lfs.process "absent-git-lfs filter-process"; git config filter.lfs.required true
printf '#!/bin/sh\nabsent-git-lfs pre-push "$@"\n' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push
touch -d "2026-01-02" assets/model.bin
