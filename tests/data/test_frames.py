"""Longitude and latitude to a plane and back: exact, true to length and angle, anywhere on the globe."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from chronoforest.data.frames import ECCENTRICITY, SEMI_MAJOR, Frame, centre_of
from chronoforest.errors import InvalidParameter

ORIGINS = [(-87.6, 41.8), (179.95, -17.0), (190.0, 5.0), (0.0, 0.0), (25.0, 78.2), (10.0, 89.5), (0.0, -89.9)]


def meridian_metres(south, north):
    """Length of a meridian between two latitudes on WGS 84, by integration."""

    def radius(angle):
        return SEMI_MAJOR * (1 - ECCENTRICITY**2) / (1 - (ECCENTRICITY * np.sin(angle)) ** 2) ** 1.5

    return quad(radius, np.radians(south), np.radians(north), epsabs=1e-9)[0]


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_way_there_and_back_is_exact_over_a_hundred_kilometres(origin):
    frame = Frame("degrees", origin)
    local = np.random.default_rng(0).uniform(-1e5, 1e5, (2000, 2))
    degrees = frame.to_user(local)
    assert frame.is_known(degrees).all()
    np.testing.assert_allclose(frame.to_local(degrees), local, atol=1e-6)
    written = np.round(degrees, frame.decimals)
    assert np.linalg.norm(frame.to_local(written) - local, axis=1).max() < 0.002


@settings(max_examples=200, deadline=None)
@given(st.floats(-180, 180), st.floats(-89.9, 89.9), st.floats(-4e5, 4e5), st.floats(-4e5, 4e5))
def test_any_place_near_any_origin_comes_back(longitude, latitude, x, y):
    frame = Frame("degrees", (longitude, latitude))
    np.testing.assert_allclose(frame.to_local(frame.to_user(np.array([x, y]))), [x, y], atol=1e-5)


@pytest.mark.parametrize("latitude", [-80.0, -33.0, 0.0, 41.8, 78.2])
def test_lengths_along_the_meridian_are_those_of_the_ellipsoid(latitude):
    frame = Frame("degrees", (12.0, latitude))
    x, y = frame.to_local(np.array([12.0, latitude + 0.9]))
    assert abs(x) < 1e-6
    assert abs(y - meridian_metres(latitude, latitude + 0.9)) < 1e-5


def test_the_plane_agrees_with_published_utm_coordinates():
    """The CN tower: 43°38'33.24" N, 79°23'13.7" W is 630084 east, 4833438 north in zone 17."""
    frame = Frame("degrees", (-81.0, 0.0))
    x, y = 0.9996 * frame.to_local(np.array([-(79 + 23 / 60 + 13.7 / 3600), 43 + 38 / 60 + 33.24 / 3600]))
    assert (round(500_000 + x), round(y)) == (630084, 4833439)


@pytest.mark.parametrize("origin", ORIGINS)
def test_lengths_and_angles_are_true_to_a_thousandth_within_a_hundred_kilometres(origin):
    """Steps of a metre north and east on the ellipsoid, by its radii of curvature, stay a metre and a right
    angle apart in the plane."""
    frame = Frame("degrees", origin)
    places = frame.to_user(np.random.default_rng(1).uniform(-1e5, 1e5, (200, 2)))
    places = places[np.abs(places[:, 1]) < 89.9]
    sine, cosine = np.sin(np.radians(places[:, 1])), np.cos(np.radians(places[:, 1]))
    curve = 1 - (ECCENTRICITY * sine) ** 2
    north = np.degrees(10.0 * curve**1.5 / (SEMI_MAJOR * (1 - ECCENTRICITY**2)))
    east = np.degrees(10.0 * np.sqrt(curve) / SEMI_MAJOR / cosine)
    still = np.zeros(len(places))
    up = frame.to_local(places + np.stack([still, north / 10], 1)) - frame.to_local(places)
    right = frame.to_local(places + np.stack([east / 10, still], 1)) - frame.to_local(places)
    for step in (up, right):
        np.testing.assert_allclose(np.linalg.norm(step, axis=1), 1.0, atol=1e-3)
    np.testing.assert_allclose((up * right).sum(axis=1), 0.0, atol=1e-3)


def test_the_antimeridian_is_a_line_like_any_other():
    frame = Frame("degrees", centre_of(np.array([[179.9, 10.0], [-179.9, 10.0]])))
    west, east = frame.to_local(np.array([[179.99, 10.0], [-179.99, 10.0]]))
    assert 2180 < east[0] - west[0] < 2200
    assert frame.to_user(east)[0] == pytest.approx(-179.99)


def test_longitudes_from_0_to_360_stay_so():
    places = np.array([[181.0, -20.0], [182.0, -20.0]])
    frame = Frame("degrees", centre_of(places))
    np.testing.assert_allclose(frame.to_user(frame.to_local(places)), places, atol=1e-9)


def test_a_plain_frame_only_shifts_and_the_default_not_even_that():
    places = np.array([[446097.65, 4636565.41]])
    frame = Frame("plain", (446000.0, 4636000.0))
    np.testing.assert_allclose(frame.to_local(places), [[97.65, 565.41]])
    np.testing.assert_allclose(frame.to_user(frame.to_local(places)), places)
    assert Frame().to_local(places) is places


def test_places_are_shown_as_people_write_them():
    assert Frame().show([10.0, 12.2]) == "(10, 12.2)"
    assert Frame("plain", (446000.0, 4636000.0)).show([446097.6543, 4636565.4]) == "(446097.654, 4636565.4)"
    assert Frame("degrees", (13.4, 52.5)).show([13.41234567, 52.5]) == "(13.412346, 52.5)"


def test_a_frame_survives_json_and_refuses_what_is_none():
    frame = Frame("degrees", (13.4, 52.5), 2.5)
    assert Frame.from_dict(frame.to_dict()) == frame
    for odd in (None, {}, {"kind": "degrees"}, [], {"kind": "plain", "origin": 3, "step_seconds": 0}):
        with pytest.raises(ValueError, match="a frame has kind, origin and step_seconds"):
            Frame.from_dict(odd)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (("polar",), "kind must be one of plain, degrees, got 'polar'"),
        (("plain", (1.0,)), "origin must be two finite numbers"),
        (("degrees", (52.5, 113.4)), "origin must be longitude and latitude"),
        (("plain", (0.0, 0.0), -1.0), "step_seconds must be 0 or more, got -1"),
    ],
)
def test_odd_frames_are_refused_with_their_values(values, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        Frame(*values)
