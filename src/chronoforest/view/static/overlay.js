// Lines and points of a file of the user's, such as streets, over the ground.

import { scene } from "./palette.js";
import { trace } from "./routes.js";

export class Overlay {
  /** lines: x, y, x, y, … each; points: x, y, x, y, …; all in the plane. */
  constructor({ lines, points }) {
    this.shape = new Path2D();
    for (const line of lines) trace(this.shape, line);
    this.points = points;
  }

  draw(context, px) {
    context.save();
    context.lineCap = context.lineJoin = "round";
    context.strokeStyle = context.fillStyle = scene().overlay;
    context.lineWidth = px(1.3);
    context.stroke(this.shape);
    const radius = px(2.2);
    for (let k = 0; k < this.points.length; k += 2) {
      context.beginPath();
      context.arc(this.points[k], this.points[k + 1], radius, 0, 7);
      context.fill();
    }
    context.restore();
  }
}
