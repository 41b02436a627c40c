"""What a mechanism may ask of the data, and how each engine answers."""
