"""Whole scopes and foreign formats, in and out."""
