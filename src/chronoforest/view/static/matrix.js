// The cost matrix as a heat map: darker is farther, a dot is a pair whose way is known, a frame is on the route.

import { anchorColour, mix, scene } from "./palette.js";

const MARGIN = 26;

export class Matrix {
  constructor(canvas, note) {
    this.canvas = canvas;
    this.note = note;
    this.run = null;
    canvas.addEventListener("pointermove", (event) => this.#tell(event));
    canvas.addEventListener("pointerleave", () => { note.textContent = this.summary ?? ""; });
  }

  show(run, round) {
    this.run = run;
    this.round = round;
    this.canvas.hidden = !round;
    const size = this.canvas.clientWidth || 300;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.canvas.height = Math.round(size * ratio);
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size, size);
    if (!round) return;
    this.cell = (size - MARGIN) / run.names.length;
    const known = round.matrix.flat().filter((value) => value !== null);
    this.#cells(context, Math.max(1, ...known));
    this.#route(context);
    this.#labels(context);
    this.summary = `steps, at most ${Math.round(Math.max(0, ...known))}`;
    this.note.textContent = this.summary;
  }

  #cells(context, most) {
    const gap = this.cell > 8 ? 1 : 0;
    for (const [row, values] of this.round.matrix.entries()) {
      for (const [column, value] of values.entries()) {
        if (value === null || row === column) continue;
        const [x, y] = [MARGIN + column * this.cell, MARGIN + row * this.cell];
        context.fillStyle = `rgb(${mix(scene().matrix, value / most)})`;
        context.fillRect(x, y, this.cell - gap, this.cell - gap);
        if (this.#stateOf(row, column) === "unmet") continue;
        context.fillStyle = value / most > 0.5 ? scene().halo : scene().ink;
        context.beginPath();
        context.arc(x + this.cell / 2, y + this.cell / 2, Math.max(1, this.cell * 0.14), 0, 7);
        context.fill();
      }
    }
  }

  #route(context) {
    context.strokeStyle = scene().chosen;
    context.lineWidth = this.cell > 8 ? 2 : 1;
    for (const { source, target } of this.run.legs(this.round)) {
      context.strokeRect(MARGIN + target * this.cell, MARGIN + source * this.cell, this.cell - 1, this.cell - 1);
    }
  }

  #labels(context) {
    const [rowStep, columnStep] = [13, 25].map((room) => Math.ceil(room / this.cell));
    context.font = `600 ${Math.min(12, Math.max(9, this.cell * 0.5))}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    for (const [index, name] of this.run.names.entries()) {
      const middle = MARGIN + (index + 0.5) * this.cell;
      context.fillStyle = name[0] === "W" ? scene().ink : anchorColour(name);
      context.textAlign = "right";
      if (index % rowStep === 0) context.fillText(name, MARGIN - 4, middle);
      context.textAlign = "center";
      if (index % columnStep === 0) context.fillText(name, middle, MARGIN - 10);
    }
  }

  #tell(event) {
    if (!this.round) return;
    const [column, row] = [event.offsetX, event.offsetY].map((pixel) => Math.floor((pixel - MARGIN) / this.cell));
    const value = this.round.matrix[row]?.[column];
    if (value === undefined || value === null || row === column) return;
    const [source, target] = [row, column].map((index) => this.run.names[index]);
    this.note.textContent = `${source} → ${target}: ${Math.round(value)} steps, ${this.#stateOf(row, column)}`;
  }

  /** Trees may have met between anchors that are no leg of the route. */
  #stateOf(row, column) {
    const key = this.run.key(row, column);
    return this.round.meetings.has(key) ? "met" : this.run.stateIn(this.round, key);
  }
}
