"""`tree/`: the readable heads as plain files, and what people's edits in them mean."""
