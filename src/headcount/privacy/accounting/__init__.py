"""What a step costs, and the filter that no sequence of steps exceeds."""
