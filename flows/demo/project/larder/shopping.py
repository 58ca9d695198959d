"""The shopping list: what to buy for one or more recipes."""
