"""The virtual view as a file system of fsspec: `pcpfs://`."""
