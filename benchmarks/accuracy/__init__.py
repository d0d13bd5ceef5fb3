"""How far our symbols agree with universal-ctags, over one well-known package a language.

`yardsticks/` has one data file a language; `yardstick` says what may stand in it.
"""
