"""Erasing pages for good, with a receipt and a proof."""
