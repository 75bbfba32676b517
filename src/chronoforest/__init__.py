"""ChronoForest: long-horizon routes for several agents, planned from short recordings."""
