// The problem that is being drawn: agents with a start and a goal each, and shared waypoints.
// An anchor is {kind: "S" | "G" | "W", index}; rows are numbered as the planner does: starts, waypoints, goals.

export class Problem {
  /** digits: after the point, of places that are given with the mouse. */
  constructor({ starts, goals, waypoints }, digits = 2) {
    this.round = (value) => Number(value.toFixed(digits));
    this.starts = starts.map((place) => [...place]);
    this.goals = goals.map((place) => [...place]);
    this.waypoints = waypoints.map((place) => [...place]);
  }

  get anchors() {
    const all = (kind, places) => places.map((place, index) => ({ kind, index, name: `${kind}${index + 1}`, place }));
    return [...all("S", this.starts), ...all("W", this.waypoints), ...all("G", this.goals)];
  }

  list(kind) {
    return { S: this.starts, G: this.goals, W: this.waypoints }[kind];
  }

  move({ kind, index }, [x, y]) {
    this.list(kind)[index] = [this.round(x), this.round(y)];
  }

  addWaypoint(place) {
    this.waypoints.push(place.map(this.round));
    return { kind: "W", index: this.waypoints.length - 1 };
  }

  addAgent(start, goal) {
    this.starts.push(start.map(this.round));
    this.goals.push(goal.map(this.round));
    return { kind: "S", index: this.starts.length - 1 };
  }

  /** Put the same anchors elsewhere, exactly. */
  replace({ starts, goals, waypoints }) {
    Object.assign(this, { starts, goals, waypoints });
  }

  /** Delete a waypoint, or the whole agent of a start or goal; false where it is the last agent. */
  remove({ kind, index }) {
    if (kind === "W") {
      this.waypoints.splice(index, 1);
      return true;
    }
    if (this.starts.length === 1) return false;
    this.starts.splice(index, 1);
    this.goals.splice(index, 1);
    return true;
  }

  toJSON() {
    return { starts: this.starts, goals: this.goals, waypoints: this.waypoints };
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
    throw new Error(`the link holds more than ${maxAnchors} anchors; an example is shown instead`);
  }
  return request;
}
