#!/usr/bin/env bash
# DIR/repo is a partial clone (no blobs) with a sparse checkout: most of its files are only in DIR/upstream.
. "$(dirname "$0")/../lib.sh"
mk_pkg "$DIR/upstream"; cd "$DIR/upstream"
mkdir -p tables/deep; for n in 1 2 3; do echo "table $n" > "tables/deep/$n.txt"; done
cat > tests/test_tables.py <<'P'
from pathlib import Path


def test_every_table_is_there():
    assert len(list(Path("tables/deep").glob("*.txt"))) == 3
P
git init -q -b main; commit_all . "Initial import"
git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true
git clone -q --filter=blob:none --sparse "file://$DIR/upstream" "$DIR/repo"
git -C "$DIR/repo" sparse-checkout set mathkit tests
