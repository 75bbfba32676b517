"""The paper's experiments, run from the repository: suites, their registry, and how they are shown."""
