"""Who thinks? Roles, prompts and the door to the models."""
