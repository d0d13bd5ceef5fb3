"""The catalog: a disposable SQLite file that answers what needs no words."""
