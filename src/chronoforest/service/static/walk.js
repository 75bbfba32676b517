// Moves walkers along tracks on one clock, which can be played, stopped and set.

const SECONDS = 9;

/** A hop that is so many times the usual one is a jump, such as a teleport. */
const JUMP = 12;

/** Half of the time over which a heading is measured, as a share of the whole. */
const HEADING_SHARE = 0.004;

class Track {
  /** points: x, y, x, y, …; times: one for every point, rising; limbs: of a body that has some, else null. */
  constructor(agent, { points, times, limbs = null }, duration) {
    this.agent = agent;
    this.points = points;
    this.times = times;
    this.limbs = limbs;
    this.duration = duration;
    const hops = [];
    for (let k = 2; k < points.length; k += 2) hops.push(Math.hypot(points[k] - points[k - 2], points[k + 1] - points[k - 1]));
    const usual = [...hops].sort((a, b) => a - b)[Math.floor(hops.length / 2)] ?? 0;
    this.isJump = hops.map((hop) => usual > 0 && hop > JUMP * usual);
  }

  at(now) {
    const { row, place } = this.#locate(now);
    return { agent: this.agent, place, heading: this.#heading(now), trail: this.#trail(row, place),
      limbs: this.limbs?.(row) ?? null };
  }

  /** The last row that is reached, and the place between it and the next. */
  #locate(now) {
    const { times, points } = this;
    let [row, end] = [0, times.length];
    while (end - row > 1) {
      const middle = (row + end) >> 1;
      if (times[middle] <= now) row = middle;
      else end = middle;
    }
    const here = points.slice(2 * row, 2 * row + 2);
    if (row + 1 >= times.length || this.isJump[row]) return { row, place: here };
    const share = Math.min(1, Math.max(0, (now - times[row]) / Math.max(1e-9, times[row + 1] - times[row])));
    return { row, place: here.map((value, axis) => value + share * (points[2 * row + 2 + axis] - value)) };
  }

  /** Radians, counter-clockwise from east; of the latest motion where nothing moves. */
  #heading(now) {
    const span = HEADING_SHARE * this.duration;
    const last = Math.min(now, this.times.at(-1));
    for (let times = 1; times < 200; times *= 2) {
      const [from, to] = [last - span * times, last + span * times].map((time) => this.#locate(time).place);
      if (Math.hypot(to[0] - from[0], to[1] - from[1]) > 0) return Math.atan2(to[1] - from[1], to[0] - from[0]);
    }
    return 0;
  }

  /** The way so far, in pieces that are interrupted by jumps. */
  #trail(row, place) {
    const pieces = [[]];
    for (let k = 0; k <= row; k += 1) {
      if (k && this.isJump[k - 1]) pieces.push([]);
      pieces.at(-1).push(this.points[2 * k], this.points[2 * k + 1]);
    }
    pieces.at(-1).push(...place);
    return pieces;
  }
}

export class Walk {
  /** tracks: {points, times, limbs} of each agent; `show` gets the walkers whenever the clock moves; `onEnd` is
   * called when it stops. */
  constructor(tracks, show, onEnd) {
    this.duration = Math.max(1e-9, ...tracks.map(({ times }) => times.at(-1)));
    this.tracks = tracks.map((track, agent) => new Track(agent, track, this.duration));
    this.show = show;
    this.onEnd = onEnd;
    this.now = 0;
    this.isPlaying = false;
  }

  /** At the end the clock begins anew. */
  play() {
    if (this.now >= this.duration) this.now = 0;
    this.isPlaying = true;
    this.last = performance.now();
    requestAnimationFrame((now) => this.#frame(now));
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.onEnd();
  }

  /** Set the clock. */
  seek(now) {
    this.now = Math.min(this.duration, Math.max(0, now));
    this.show(this.tracks.map((track) => track.at(this.now)));
  }

  #frame(now) {
    if (!this.isPlaying) return;
    this.seek(this.now + (this.duration * Math.max(0, now - this.last)) / (1000 * SECONDS));
    this.last = now;
    if (this.now >= this.duration) this.pause();
    else requestAnimationFrame((next) => this.#frame(next));
  }
}
