"""Trees that outlive a search, so that planning anew grows only what moved."""

from __future__ import annotations

import copy

from chronoforest.search.tree import Forest, Tree


class ForestMemory:
    """Trees remembered by the place of their anchor."""

    def __init__(self) -> None:
        self._trees: dict[tuple[tuple[float, ...], bool], Tree] = {}

    def recall(self, forest: Forest) -> Forest:
        """The forest with remembered trees in the place of bare ones."""
        known = {id(tree): self._recalled(tree) for tree in forest.trees}
        return Forest(
            {anchor: known[id(tree)] for anchor, tree in forest.outgoing.items()},
            {anchor: known[id(tree)] for anchor, tree in forest.incoming.items()},
        )

    def remember(self, forest: Forest) -> None:
        """Keep the trees of a finished search."""
        self._trees.update({_place(tree): tree for tree in forest.trees})

    def _recalled(self, tree: Tree) -> Tree:
        found = copy.copy(self._trees.get(_place(tree), tree))
        found.anchor = tree.anchor
        return found


def _place(tree: Tree) -> tuple[tuple[float, ...], bool]:
    return tuple(tree.state[0].tolist()), tree.is_incoming
