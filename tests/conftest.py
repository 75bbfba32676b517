"""Being here puts this folder on the import path, so that tests in every folder share `fake_planner`."""
