"""Where tacet meets other tools."""
