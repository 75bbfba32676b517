"""Trees that outlive a search, so that planning anew grows only what moved."""

from __future__ import annotations

import copy
from collections.abc import Hashable

from chronoforest.search.tree import Forest, Tree


class ForestMemory:
    """Trees remembered by what grew them and the place of their anchor.

    grower: what trees can be shared within; their codes are those of one distance, so that a variant with
    another one cannot go on from them.
    """

    def __init__(self) -> None:
        self._trees: dict[Hashable, Tree] = {}

    def recall(self, forest: Forest, grower: Hashable) -> Forest:
        """The forest with remembered trees in the place of bare ones."""
        known = {id(tree): self._recalled(tree, grower) for tree in forest.trees}
        return Forest(
            {anchor: known[id(tree)] for anchor, tree in forest.outgoing.items()},
            {anchor: known[id(tree)] for anchor, tree in forest.incoming.items()},
        )

    def remember(self, forest: Forest, grower: Hashable) -> None:
        """Keep the trees of a finished search."""
        self._trees.update({(grower, _place(tree)): tree for tree in forest.trees})

    def _recalled(self, tree: Tree, grower: Hashable) -> Tree:
        found = copy.copy(self._trees.get((grower, _place(tree)), tree))
        found.anchor = tree.anchor
        return found


def _place(tree: Tree) -> tuple[tuple[float, ...], bool]:
    return tuple(tree.state[0].tolist()), tree.is_incoming
