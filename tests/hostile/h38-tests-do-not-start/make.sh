#!/usr/bin/env bash
# conftest.py ends pytest unless a database is there: no test can run, whatever the code says.
. "$(dirname "$0")/../lib.sh"
mk_pkg "$DIR/repo"; cd "$DIR/repo"
cat > tests/conftest.py <<'P'
import os

import pytest

if "DATABASE_URL" not in os.environ:
    pytest.exit("DATABASE_URL is not set: run docker compose up first", returncode=3)
P
git init -q -b main; commit_all . "Initial import"
