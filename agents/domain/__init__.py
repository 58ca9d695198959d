"""What is true? The types and rules of a mission, as plain values with no effects."""
