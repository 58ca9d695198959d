"""The shopping list: what to buy for a recipe."""

from larder.recipe import Ingredient
from larder.words import plural


def heading(recipes: int) -> str:
    """Return the first line of the list, such as: To buy for 2 recipes."""
    return f"To buy for {recipes} {plural('recipe', recipes)}"


def line(ingredient: Ingredient) -> str:
    """Return an ingredient as it stands on the list, such as 200 g flour."""
    if ingredient.unit:
        return f"{ingredient.amount:g} {ingredient.unit} {ingredient.name}"
    return f"{ingredient.amount:g} {ingredient.name}"


def shopping_list(ingredients: list[Ingredient]) -> list[str]:
    """Return the lines of the list, one for each ingredient."""
    return [line(ingredient) for ingredient in ingredients]
