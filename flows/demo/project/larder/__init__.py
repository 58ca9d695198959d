"""Recipes, units and shopping lists."""
