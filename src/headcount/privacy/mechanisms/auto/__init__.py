"""The choice between the other mechanisms, under the same budget."""
