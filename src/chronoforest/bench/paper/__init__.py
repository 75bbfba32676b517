"""The paper's tables and figures: a file per suite, and the registry that lists them."""
