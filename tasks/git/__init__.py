"""Git without porcelain: the store, trees as values, the record."""
