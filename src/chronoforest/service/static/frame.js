// The user's coordinates and the plane that the page draws: the same as chronoforest.data.frames, where it is explained.

const SEMI_MAJOR = 6378137;
const FLATTENING = 1 / 298.257223563;
const ECCENTRICITY = Math.sqrt(FLATTENING * (2 - FLATTENING));
const N = FLATTENING / (2 - FLATTENING);
const RADIUS = (SEMI_MAJOR / (1 + N)) * (1 + N ** 2 / 4 + N ** 4 / 64);
const FORWARD = [
  N / 2 - (2 * N ** 2) / 3 + (5 * N ** 3) / 16 + (41 * N ** 4) / 180,
  (13 * N ** 2) / 48 - (3 * N ** 3) / 5 + (557 * N ** 4) / 1440,
  (61 * N ** 3) / 240 - (103 * N ** 4) / 140,
  (49561 * N ** 4) / 161280,
];
const BACKWARD = [
  -N / 2 + (2 * N ** 2) / 3 - (37 * N ** 3) / 96 + N ** 4 / 360,
  -(N ** 2) / 48 - N ** 3 / 15 + (437 * N ** 4) / 1440,
  (-17 * N ** 3) / 480 + (37 * N ** 4) / 840,
  (-4397 * N ** 4) / 161280,
];

const radians = (degrees) => (degrees * Math.PI) / 180;
const degrees = (angle) => (angle * 180) / Math.PI;
const modulo = (value, size) => ((value % size) + size) % size;

export class Frame {
  constructor({ kind, origin, step_seconds: stepSeconds }) {
    this.isDegrees = kind === "degrees";
    this.hasClock = stepSeconds > 0;
    this.origin = origin;
    this.unit = this.isDegrees ? "m" : "units";
    this.axes = this.isDegrees ? ["longitude", "latitude"] : ["x", "y"];
    this.offset = this.isDegrees ? projected(origin, origin[0]) : origin;
  }

  toLocal(place) {
    const [x, y] = this.isDegrees ? projected(place, this.origin[0]) : place;
    return [x - this.offset[0], y - this.offset[1]];
  }

  toUser([x, y]) {
    const place = [x + this.offset[0], y + this.offset[1]];
    if (!this.isDegrees) return place.map((value) => rounded(value, 5));
    const [longitude, latitude] = unprojected(place);
    const least = this.origin[0] > 180 ? 0 : -180;
    return [modulo(longitude + this.origin[0] - least, 360) + least, latitude].map((value) => rounded(value, 8));
  }

  /** A problem or a request with its places changed by one of the two. */
  changed(problem, change) {
    const places = ["starts", "goals", "waypoints"].map((key) => [key, problem[key].map((place) => change.call(this, place))]);
    const { exclude } = problem;
    const closed = exclude?.map((corners) => corners.map((corner) => change.call(this, corner)));
    return { ...problem, ...Object.fromEntries(places), ...(closed ? { exclude: closed } : {}) };
  }
}

function rounded(value, digits) {
  return Number(value.toFixed(digits));
}

/** Metres east of a meridian and north of the equator. */
function projected([longitude, latitude], meridian) {
  const angle = radians(modulo(longitude - meridian + 180, 360) - 180);
  const tangent = conformal(Math.tan(radians(latitude)));
  const north = Math.atan2(tangent, Math.cos(angle));
  const east = Math.asinh(Math.sin(angle) / Math.hypot(tangent, Math.cos(angle)));
  const [up, right] = withSeries(north, east, FORWARD);
  return [RADIUS * right, RADIUS * up];
}

/** The inverse, in degrees east of the meridian. */
function unprojected([x, y]) {
  const [north, east] = withSeries(y / RADIUS, x / RADIUS, BACKWARD);
  const angle = Math.atan2(Math.sinh(east), Math.cos(north));
  const tangent = geographic(Math.sin(north) / Math.hypot(Math.sinh(east), Math.cos(north)));
  return [degrees(angle), degrees(Math.atan(tangent))];
}

/** Real and imaginary part of Krüger's series at north + i east. */
function withSeries(north, east, coefficients) {
  let [up, right] = [north, east];
  for (const [k, value] of coefficients.entries()) {
    const times = 2 * (k + 1);
    up += value * Math.sin(times * north) * Math.cosh(times * east);
    right += value * Math.cos(times * north) * Math.sinh(times * east);
  }
  return [up, right];
}

function conformal(tangent) {
  const secant = Math.hypot(1, tangent);
  const shift = Math.sinh(ECCENTRICITY * Math.atanh((ECCENTRICITY * tangent) / secant));
  return tangent * Math.hypot(1, shift) - shift * secant;
}

function geographic(wanted) {
  const rest = 1 - ECCENTRICITY ** 2;
  let tangent = wanted / rest;
  for (let k = 0; k < 5; k += 1) {
    const found = conformal(tangent);
    const slope = (Math.hypot(1, tangent) * rest) / (1 + rest * tangent ** 2);
    tangent += (wanted - found) / Math.hypot(1, found) / slope;
  }
  return tangent;
}
