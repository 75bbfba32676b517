// One plan as it is made: asks for it, reads its rounds as they come and remembers them all.

/** Ask the service; the answer is a Response. Throws a readable Error where it refuses. */
export async function call(method, path, body, signal) {
  let answer;
  try {
    answer = await fetch(path, {
      method, signal,
      headers: body ? { "Content-Type": "application/json" } : {},
      body: body ? JSON.stringify(body) : undefined,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the service does not answer; is it still running?");
  }
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw new Error(error ?? `the service answered ${answer.status}`);
}

/** Follow an answer that is lines of JSON, until its end. */
export async function follow(path, body, onLine, signal) {
  const answer = await call("POST", path, body, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (text + part.value).split("\n");
    text = lines.pop();
    for (const line of lines) onLine(JSON.parse(line));
  }
}

/** What the map shows of a leg of a plan: a way that was "met", one that is only "inferred", or "unmet". */
export function stateOf({ is_met: isMet, evidence }) {
  if (!isMet) return "unmet";
  return evidence === "inferred" ? "inferred" : "met";
}

export class Run {
  /** request: in the user's coordinates; frame: what turns them into the plane of the page. */
  constructor(request, frame) {
    this.request = request;
    this.frame = frame;
    const named = (letter, places) => places.map((_, k) => `${letter}${k + 1}`);
    this.names = [...named("S", request.starts), ...named("W", request.waypoints), ...named("G", request.goals)];
    this.places = [...request.starts, ...request.waypoints, ...request.goals].map((place) => frame.toLocal(place));
    this.rounds = [];
    this.plan = null;
    this.state = "running";
    this.isStale = false;
    this.aborter = new AbortController();
  }

  get isOver() {
    return this.state !== "running";
  }

  /** Ask for the plan; `onChange` is called whenever something is new. Resolves when the run is over. */
  async start(onChange) {
    const read = ({ kind, ...values }) => {
      if (kind === "failed") throw new Error(values.error);
      if (kind === "plan") this.plan = values;
      else this.rounds.push(this.completed(values, this.rounds.at(-1)));
      if (!this.isOver) onChange(this);
    };
    try {
      await follow("/plan", { ...this.request, answer: "rounds" }, read, this.aborter.signal);
      if (!this.isOver) this.state = this.plan ? "done" : "cancelled";
    } catch (error) {
      if (this.isOver) return;
      this.state = "failed";
      this.error = error.message;
    }
    onChange(this);
  }

  /** End at once here; the planner ends when the connection does. */
  cancel() {
    if (this.isOver) return;
    this.state = "cancelled";
    this.aborter.abort();
  }

  /** A number for a pair of anchors. */
  key(source, target) {
    return source * this.places.length + target;
  }

  keys(pairs) {
    return new Set(pairs.map(([source, target]) => this.key(source, target)));
  }

  /** What is new in a round together with what was known. */
  completed(values, last) {
    const merged = (known, fresh) => {
      const map = new Map(known);
      for (const [source, target, points] of fresh) map.set(this.key(source, target), points);
      return map;
    };
    return {
      ...values,
      paths: merged(last?.paths, values.paths),
      meetings: merged(last?.meetings, values.meetings),
      met: this.keys(values.met),
      proposed: this.keys(values.proposed),
      isFlip: Boolean(last) && JSON.stringify(last.route) !== JSON.stringify(values.route),
    };
  }

  /** Legs of a round's tentative route; `path` is null where the leg is not met. */
  legs(round) {
    return round.route.flatMap((order, agent) =>
      order.slice(1).map((target, k) => {
        const key = this.key(order[k], target);
        const path = round.met.has(key) ? round.paths.get(key) : null;
        const state = path ? (round.proposed.has(key) ? "inferred" : "met") : "unmet";
        return { agent, path, state, ends: [this.places[order[k]], this.places[target]] };
      }),
    );
  }

  /** Legs of the plan. */
  planLegs() {
    return this.plan.routes.flatMap(({ path, stops, legs }, agent) => legs.map((leg, k) => {
      const ends = [leg.source, leg.target].map((name) => this.places[this.names.indexOf(name)]);
      const isWay = stateOf(leg) !== "unmet" && k + 1 < stops.length;
      return { agent, state: isWay ? stateOf(leg) : "unmet", ends,
        path: isWay ? path.slice(2 * stops[k], 2 * stops[k + 1] + 2) : null };
    }));
  }

  /** Whether a round is the last of a finished plan, which may have taken another order than the tentative one. */
  isFinal(index) {
    return Boolean(this.plan) && index >= this.rounds.length - 1;
  }

  /** Names that each agent visits in a round, in this order. */
  ordersAt(index) {
    if (this.isFinal(index)) return this.plan.routes.map(({ order }) => order);
    return (this.rounds[index]?.route ?? []).map((rows) => rows.map((row) => this.names[row]));
  }
}
