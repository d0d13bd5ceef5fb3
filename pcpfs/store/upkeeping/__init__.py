"""Keeping a store fast and sound: maintain, fsck, repair, sizes."""
