# -*- coding: latin-1 -*-
"""Names from the old paper gazette, kept in the encoding it was typed in."""

from tidebook.stations import Station

PRÉFECTURE = "Ille-et-Vilaine"


def pretty_name(station: Station) -> str:
    """The name with its accents: `treguier` is printed as Tréguier."""
    return {"treguier": "Tréguier", "ploumanach": "Ploumanac'h"}.get(
        station.slug, station.name
    )


def légende(station: Station) -> str:
    """The caption below a table, as the gazette had it."""
    return f"« {pretty_name(station)} », {PRÉFECTURE} - hauteurs en mètres"
