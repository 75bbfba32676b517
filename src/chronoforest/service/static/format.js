// Numbers as people write them, from centimetres to hundreds of kilometres.

const METRES_PER_DEGREE = 111320;
const DIGITS = 4;

/** A number with four digits that count, and no fewer than those before its point. */
export function number(value, digits = DIGITS) {
  if (!value) return "0";
  const behind = digits - 1 - Math.floor(Math.log10(Math.abs(value)));
  return String(Number(value.toFixed(Math.min(12, Math.max(0, behind)))));
}

/** A length of the plane: in the unit of the user's coordinates, or in cm, m and km. */
export function lengthText(value, { unit }) {
  if (unit !== "m") return `${number(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
  if (value >= 1000) return `${number(value / 1000)} km`;
  return value < 1 ? `${number(100 * value, 3)} cm` : `${number(value)} m`;
}

/** A time along a plan: steps where the recordings had no clock. */
export function timeText(value, { hasClock }) {
  if (!hasClock) return `${Math.round(value)} steps`;
  if (value < 60) return `${number(value, 3)} s`;
  return `${clockText(value)} ${value < 3600 ? "min" : "h"}`;
}

/** 6:11, or 1:06:11 where it is hours. */
function clockText(value) {
  const whole = Math.round(value);
  const [hours, minutes, seconds] = [whole / 3600, (whole / 60) % 60, whole % 60].map(Math.floor);
  const two = (count) => String(count).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** How long something takes, and its range in brackets, in the unit that the table's head names. */
export function durationText(value, band, { hasClock }) {
  const text = hasClock ? clockText : (steps) => String(Math.round(steps));
  return band ? `${text(value)} (${band.map(text).join("–")})` : text(value);
}

/** A place of the plane in the user's coordinates, as exact as a pixel of so many units is. */
export function placeText(place, frame, pixel) {
  const step = frame.isDegrees ? pixel / METRES_PER_DEGREE : pixel;
  const digits = Math.min(8, Math.max(0, Math.ceil(-Math.log10(step))));
  return frame.toUser(place).map((value) => value.toFixed(digits)).join(", ");
}

/** The largest of 1, 2 and 5 times a power of ten that is at most so much. */
export function roundLength(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  return power * [5, 2, 1].find((times) => times * power <= most * (1 + 1e-9));
}

/** By how much the arrows of a field change a coordinate: a small share of the world's width. */
export function coordinateStep(width, { isDegrees }) {
  return Number(roundLength(width / 200 / (isDegrees ? METRES_PER_DEGREE : 1)).toPrecision(1));
}
