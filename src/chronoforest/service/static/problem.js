// The problem that is being drawn: agents with a start and a goal each, and shared waypoints, all with a label.
// An anchor is {kind: "S" | "G" | "W", index}; rows are numbered as the planner does: starts, waypoints, goals.

export class Problem {
  /** digits: after the point, of places that are given with the mouse. */
  constructor({ starts, goals, waypoints, labels }, digits = 2) {
    this.round = (value) => Number(value.toFixed(digits));
    const [numStarts, numStops] = [starts.length, starts.length + waypoints.length];
    const stops = (letter, places, first) => places.map((place, k) => {
      const label = labels?.[first + k] ?? "";
      return { place: [...place], label: label === `${letter}${k + 1}` ? "" : label };
    });
    this.stops = { S: stops("S", starts, 0), W: stops("W", waypoints, numStarts), G: stops("G", goals, numStops) };
  }

  get anchors() {
    return ["S", "W", "G"].flatMap((kind) => this.stops[kind].map(({ place, label }, index) => (
      { kind, index, name: `${kind}${index + 1}`, label: label || `${kind}${index + 1}`, place })));
  }

  get numAgents() {
    return this.stops.S.length;
  }

  at({ kind, index }) {
    return this.stops[kind][index];
  }

  move(anchor, place) {
    this.at(anchor).place = place.map(this.round);
  }

  add(kind, place) {
    this.stops[kind].push({ place: place.map(this.round), label: "" });
    return { kind, index: this.stops[kind].length - 1 };
  }

  addAgent(start, goal) {
    this.add("G", goal);
    return this.add("S", start);
  }

  /** Delete a waypoint, or the whole agent of a start or goal; false where it is the last agent. */
  remove({ kind, index }) {
    if (kind !== "W" && this.numAgents === 1) return false;
    for (const one of kind === "W" ? ["W"] : ["S", "G"]) this.stops[one].splice(index, 1);
    return true;
  }

  toJSON() {
    const places = (kind) => this.stops[kind].map(({ place }) => place);
    const labels = ["S", "W", "G"].flatMap((kind) => this.stops[kind].map(({ label }) => label));
    const named = labels.some(Boolean) ? { labels } : {};
    return { starts: places("S"), goals: places("G"), waypoints: places("W"), ...named };
  }
}

/** Digits behind the point that tell places of a world of that width apart. */
export function digitsFor(width) {
  return Math.min(8, Math.max(2, 4 - Math.floor(Math.log10(width))));
}

/** Everything that makes a plan, as the part of an address after "#". */
export function toFragment(request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const text = btoa(String.fromCharCode(...bytes));
  return `#plan=${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The inverse; throws a readable Error where the link is damaged or holds too many anchors. */
export function fromFragment(fragment, maxAnchors) {
  const text = fragment.replace(/^#plan=/, "").replaceAll("-", "+").replaceAll("_", "/");
  let request;
  try {
    request = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))));
  } catch {
    throw new Error("the link is damaged; an example is shown instead");
  }
  const isPlace = (place) => Array.isArray(place) && place.length === 2 && place.every(Number.isFinite);
  const arePlaces = (places) => Array.isArray(places) && places.every(isPlace);
  const { starts, goals, waypoints } = request ?? {};
  if (![starts, goals, waypoints].every(arePlaces) || !starts.length || starts.length !== goals.length) {
    throw new Error("the link holds no problem; an example is shown instead");
  }
  if (2 * starts.length + waypoints.length > maxAnchors) {
    throw new Error(`the link holds more than ${maxAnchors} stops; an example is shown instead`);
  }
  return request;
}
