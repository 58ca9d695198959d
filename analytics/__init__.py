"""How did it go? The warehouse and what is asked of it."""
