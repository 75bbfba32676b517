// The problem that is being drawn: agents with a start and a goal each, shared waypoints, all with a label, and
// closed areas. What can be chosen is {kind: "S" | "G" | "W" | "X", index}, X for areas; rows are numbered as the
// planner does: starts, waypoints, goals.

export class Problem {
  /** digits: after the point, of places that are given with the mouse. */
  constructor({ starts, goals, waypoints, labels, fix, exclude }, digits = 2) {
    this.round = (value) => Number(value.toFixed(digits));
    const [numStarts, numStops] = [starts.length, starts.length + waypoints.length];
    const stops = (letter, places, first) => places.map((place, k) => {
      const label = labels?.[first + k] ?? "";
      const name = `${letter}${k + 1}`;
      return { place: [...place], label: label === name ? "" : label, fix: fix?.[name] ?? fix?.[label] ?? "" };
    });
    this.areas = (exclude ?? []).map((corners) => ({ corners: corners.map(([x, y]) => [x, y]) }));
    this.stops = { S: stops("S", starts, 0), W: stops("W", waypoints, numStarts), G: stops("G", goals, numStops) };
  }

  get anchors() {
    return ["S", "W", "G"].flatMap((kind) => this.stops[kind].map(({ place, label }, index) => (
      { kind, index, name: `${kind}${index + 1}`, label: label || `${kind}${index + 1}`, place })));
  }

  /** The closed areas as what can be chosen; the place of one is its middle. */
  get closed() {
    return this.areas.map(({ corners }, index) => {
      const name = `area ${index + 1}`;
      return { kind: "X", index, name, label: name, place: this.at({ kind: "X", index }).place, corners };
    });
  }

  get numAgents() {
    return this.stops.S.length;
  }

  at({ kind, index }) {
    if (kind !== "X") return this.stops[kind][index];
    const sides = [0, 1].map((axis) => this.areas[index].corners.map((corner) => corner[axis]));
    return { place: sides.map((values) => this.round((Math.min(...values) + Math.max(...values)) / 2)) };
  }

  move(anchor, place) {
    if (anchor.kind === "X") {
      const by = this.at(anchor).place.map((value, axis) => place[axis] - value);
      const area = this.areas[anchor.index];
      area.corners = area.corners.map((corner) => corner.map((value, axis) => this.round(value + by[axis])));
      return;
    }
    this.at(anchor).place = place.map(this.round);
  }

  add(kind, place) {
    this.stops[kind].push({ place: place.map(this.round), label: "", fix: "" });
    return { kind, index: this.stops[kind].length - 1 };
  }

  close(corners) {
    this.areas.push({ corners: corners.map((corner) => corner.map(this.round)) });
    return { kind: "X", index: this.areas.length - 1 };
  }

  addAgent(start, goal) {
    this.add("G", goal);
    return this.add("S", start);
  }

  /** Delete a waypoint, an area, or the whole agent of a start or goal; false where it is the last agent. */
  remove({ kind, index }) {
    if (kind === "X") return this.areas.splice(index, 1);
    if (kind !== "W" && this.numAgents === 1) return false;
    for (const one of kind === "W" ? ["W"] : ["S", "G"]) this.stops[one].splice(index, 1);
    if (kind !== "W") for (const stop of this.stops.W) stop.fix = withoutAgent(stop.fix, index + 1);
    return true;
  }

  toJSON() {
    const places = (kind) => this.stops[kind].map(({ place }) => place);
    const labels = ["S", "W", "G"].flatMap((kind) => this.stops[kind].map(({ label }) => label));
    const named = labels.some(Boolean) ? { labels } : {};
    const rules = this.stops.W.map(({ fix }, k) => [`W${k + 1}`, fix]).filter(([, fix]) => fix);
    const fixed = rules.length ? { fix: Object.fromEntries(rules) } : {};
    const closed = this.areas.length ? { exclude: this.areas.map(({ corners }) => corners) } : {};
    return { starts: places("S"), goals: places("G"), waypoints: places("W"), ...named, ...fixed, ...closed };
  }
}

/** How a waypoint is fixed once an agent is gone: the agents after it have one number less. */
function withoutAgent(fix, gone) {
  const number = Number(fix.match(/agent (\d+)/)?.[1] ?? 0);
  if (!number || number < gone) return fix;
  return fix.replace(/agent \d+ ?/, number === gone ? "" : `agent ${number - 1} `).trim();
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
  const { starts, goals, waypoints, exclude = [] } = request ?? {};
  const areAreas = Array.isArray(exclude) && exclude.every(arePlaces);
  if (![starts, goals, waypoints].every(arePlaces) || !areAreas || !starts.length || starts.length !== goals.length) {
    throw new Error("the link holds no problem; an example is shown instead");
  }
  if (2 * starts.length + waypoints.length > maxAnchors) {
    throw new Error(`the link holds more than ${maxAnchors} stops; an example is shown instead`);
  }
  return request;
}
