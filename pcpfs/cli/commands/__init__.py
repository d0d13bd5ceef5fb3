"""Each module here is a command of the same name, each package a group of them."""
