"""The store as a server of the Model Context Protocol: tools and resources for one principal."""
