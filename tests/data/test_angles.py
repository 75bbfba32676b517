"""Numbers as people write them."""

import numpy as np
import pytest

from chronoforest.data.columns import number_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,5", 1.5),
        ("-3e2", -300.0),
        ("41.5N", 41.5),
        ("87.25 W", -87.25),
        ("S 12,5", -12.5),
        ("87°30'36\"W", -87.51),
        ("41° 30.6' N", 41.51),
        ("41.5°", 41.5),
    ],
)
def test_a_number_or_degrees_with_a_hemisphere(text, number):
    assert number_of(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["north", "1,2,3", "41'", "5 6", "12x"])
def test_what_is_no_number_is_nan(text):
    assert np.isnan(number_of(text))
