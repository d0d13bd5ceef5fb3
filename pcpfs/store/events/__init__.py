"""Event pages: raw messages and tool events, kept as lines of segments."""
