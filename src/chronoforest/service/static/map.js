// What a mouse or fingers do on the map: drag stops, drag the ground, zoom, add, delete, and read places.

import { $, app } from "./app.js";
import { addStop, choose, closeArea, dropped, problemChanged, pushUndo, removeAnchor, setClosing, showProblem, zoom } from "./editor.js";
import { placeText } from "./format.js";

/** Pixels by which a pointer may miss a marker. */
const REACH = { mouse: 4, touch: 16 };

/** Pixels between corners of an area that is drawn. */
const CORNER_SPACING = 6;

export function listenToMap(pane) {
  const { canvas } = pane;
  const fingers = new Map();
  let held = null;
  const anchorAt = (event) => pane.anchorAt(...within(event), REACH[event.pointerType] ?? REACH.mouse)
    ?? pane.areaAt(...within(event));
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, within(event));
    if (fingers.size === 2) held = new Pinch(pane, [...fingers.values()]);
    if (fingers.size > 1) return;
    if (app.isClosing) return (held = new DrawnArea(pane, within(event)));
    const anchor = anchorAt(event);
    held = anchor ? new HeldAnchor(pane, anchor, within(event)) : new HeldGround(pane, within(event));
    choose(anchor ?? null);
  });
  canvas.addEventListener("pointermove", (event) => {
    const place = within(event);
    showCursor(pane, place);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, place);
    if (held) held.moveTo(place, [...fingers.values()]);
    else canvas.style.cursor = app.isClosing ? "crosshair" : anchorAt(event) ? "pointer" : "grab";
  });
  const release = (event) => {
    fingers.delete(event.pointerId);
    held?.drop?.();
    held = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { $("cursor").textContent = ""; });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 500), pane.toWorld(...within(event)));
  }, { passive: false });
  listenToClicks(pane, anchorAt);
}

function listenToClicks(pane, anchorAt) {
  pane.canvas.addEventListener("dblclick", (event) => {
    if (!anchorAt(event)) addStop(pane.toWorld(...within(event)));
  });
  pane.canvas.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    removeAnchor(anchorAt(event));
  });
}

/** The place under the pointer, in the user's coordinates. */
function showCursor(pane, place) {
  $("cursor").textContent = placeText(pane.toWorld(...place), app.frame, 1 / pane.scale);
}

function within(event) {
  const box = event.currentTarget.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

class HeldAnchor {
  constructor(pane, anchor, place) {
    this.pane = pane;
    this.anchor = anchor;
    this.before = JSON.stringify(app.problem);
    const held = pane.toWorld(...place);
    this.off = anchor.kind === "X" ? anchor.place.map((value, axis) => value - held[axis]) : [0, 0];
  }

  moveTo(place) {
    app.problem.move(this.anchor, this.pane.toWorld(...place).map((value, axis) => value + this.off[axis]));
    if (this.hasMoved) return showProblem();
    this.hasMoved = true;
    pushUndo(this.before);
    problemChanged();
  }

  drop() {
    if (this.hasMoved) dropped(this.anchor);
  }
}

/** An area that is being closed: what the pointer draws around, or a square where it does not move. */
class DrawnArea {
  constructor(pane, place) {
    this.pane = pane;
    this.corners = [place];
    this.others = pane.areas;
  }

  moveTo(place) {
    if (distance([this.corners.at(-1), place]) < CORNER_SPACING) return;
    this.corners.push(place);
    this.pane.areas = [...this.others, { corners: this.#inWorld(), isChosen: true }];
    this.pane.redraw();
  }

  drop() {
    if (this.corners.length > 2) closeArea(this.#inWorld());
    else setClosing(false);
  }

  #inWorld() {
    return this.corners.map((corner) => this.pane.toWorld(...corner));
  }
}

class HeldGround {
  constructor(pane, place) {
    this.pane = pane;
    this.from = place;
    this.centre = pane.view.centre;
  }

  moveTo([x, y]) {
    const { scale } = this.pane;
    this.pane.view.centre = [this.centre[0] - (x - this.from[0]) / scale, this.centre[1] + (y - this.from[1]) / scale];
    this.pane.redraw();
  }
}

/** Two fingers: the ground between them stays between them. */
class Pinch {
  constructor(pane, fingers) {
    this.pane = pane;
    this.apart = distance(fingers);
  }

  moveTo(_, fingers) {
    if (fingers.length < 2) return;
    const apart = distance(fingers);
    const middle = fingers[0].map((value, axis) => (value + fingers[1][axis]) / 2);
    zoom(apart / Math.max(1, this.apart), this.pane.toWorld(...middle));
    this.apart = apart;
  }
}

function distance([[x0, y0], [x1, y1]]) {
  return Math.hypot(x1 - x0, y1 - y0);
}
