"""What git brings: clones, pulls, merges, rebases, and what they get wrong."""
