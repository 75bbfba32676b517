// The ground of the map: where the recordings went, how densely, and the ways that were learned from them.

import { mix, scene } from "./palette.js";
import { trace } from "./routes.js";

const MAX_ATTEMPTS = 4000;
const ENOUGH_ATTEMPTS = 400;
const ROOM_SHARE = 1 / 60;

/** The density as a picture, one for each theme, and what it says about places; `roads` where ways are known. */
export class Ground {
  constructor({ extent, grid, walls, ways }) {
    this.extent = extent;
    this.walls = walls;
    this.showsWalls = false;
    this.roads = ways.length ? new Path2D() : null;
    for (const line of ways) trace(this.roads, line);
    this.grid = { ...grid, bytes: Uint8Array.from(atob(grid.values), (letter) => letter.charCodeAt(0)) };
    this.pictures = {};
  }

  isSupported([x, y]) {
    const { nx, ny, bytes, extent: [left, right, bottom, top] } = this.grid;
    const column = Math.floor(((x - left) / (right - left)) * nx);
    const row = Math.floor(((top - y) / (top - bottom)) * ny);
    return column >= 0 && row >= 0 && column < nx && row < ny && bytes[row * nx + column] > 0;
  }

  /** A supported place, of some random ones the one farthest from the given places. */
  freePlace(taken) {
    const [left, right, bottom, top] = this.extent;
    let best = null;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !(best && attempt > ENOUGH_ATTEMPTS); attempt += 1) {
      const place = [left + Math.random() * (right - left), bottom + Math.random() * (top - bottom)];
      if (!this.#hasRoom(place)) continue;
      const distance = Math.min(1e9, ...taken.map(([x, y]) => Math.hypot(x - place[0], y - place[1])));
      if (!best || distance > best.distance) best = { place, distance };
    }
    return best?.place ?? [(left + right) / 2, (bottom + top) / 2];
  }

  #hasRoom([x, y]) {
    const [left, right, bottom, top] = this.extent;
    const room = ROOM_SHARE * Math.min(right - left, top - bottom);
    const around = [[0, 0], [room, 0], [-room, 0], [0, room], [0, -room]];
    return around.every(([dx, dy]) => this.isSupported([x + dx, y + dy]));
  }

  picture(name) {
    this.pictures[name] ??= this.#paint();
    return this.pictures[name];
  }

  #paint() {
    const { nx, ny, bytes } = this.grid;
    const { outside, thin, dense } = scene();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [nx, ny];
    const context = canvas.getContext("2d");
    const image = context.createImageData(nx, ny);
    const colours = Array.from({ length: 256 }, (_, value) => (value ? mix([thin, dense], (value - 1) / 254) : outside));
    bytes.forEach((value, k) => image.data.set([...colours[value], 255], 4 * k));
    context.putImageData(image, 0, 0);
    return canvas;
  }
}
