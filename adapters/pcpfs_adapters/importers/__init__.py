"""What reads other people's formats, one file each; found by the entry points `pcpfs.importers`."""
