// Moves walkers along tracks, all at the same time and pace.

const SECONDS = 9;

/** A hop that is so many times the usual one is a jump, such as a teleport. */
const JUMP = 12;

class Track {
  constructor(agent, points) {
    this.agent = agent;
    this.points = points;
    const hops = [];
    for (let k = 2; k < points.length; k += 2) hops.push(Math.hypot(points[k] - points[k - 2], points[k + 1] - points[k - 1]));
    const usual = [...hops].sort((a, b) => a - b)[Math.floor(hops.length / 2)] ?? 0;
    this.isJump = hops.map((hop) => usual > 0 && hop > JUMP * usual);
    this.sums = [0];
    for (const [k, hop] of hops.entries()) this.sums.push(this.sums[k] + (this.isJump[k] ? 0 : hop));
  }

  get length() {
    return this.sums.at(-1);
  }

  at(walked) {
    const found = this.sums.findIndex((sum) => sum > walked);
    const row = found < 0 ? this.sums.length - 1 : found;
    const before = Math.max(0, row - 1);
    const share = Math.min(1, (walked - this.sums[before]) / Math.max(1e-9, this.sums[row] - this.sums[before]));
    const [from, to] = [before, row].map((k) => this.points.slice(2 * k, 2 * k + 2));
    const place = from.map((value, axis) => value + share * (to[axis] - value));
    return { agent: this.agent, place, trail: this.#trail(before, place) };
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
  /** groups: lists of tracks [x, y, x, y, …]; `show` gets the walkers of each group; `onEnd` is called once. */
  constructor(groups, show, onEnd) {
    this.groups = groups.map((tracks) => tracks.map((points, agent) => new Track(agent, points)));
    this.longest = Math.max(1e-9, ...this.groups.flat().map(({ length }) => length));
    this.show = show;
    this.onEnd = onEnd;
    this.walked = 0;
  }

  /** `speed` is asked in every frame. */
  start(speed) {
    this.speed = speed;
    this.isPlaying = true;
    this.last = performance.now();
    requestAnimationFrame((now) => this.#frame(now));
  }

  stop() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.onEnd();
  }

  #frame(now) {
    if (!this.isPlaying) return;
    this.walked += (this.longest * this.speed() * Math.max(0, now - this.last)) / (1000 * SECONDS);
    this.last = now;
    this.show(this.groups.map((tracks) => tracks.map((track) => track.at(this.walked))));
    if (this.walked >= this.longest) this.stop();
    else requestAnimationFrame((next) => this.#frame(next));
  }
}
