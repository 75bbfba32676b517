// One plan as it is made: asks for it, listens to its rounds and remembers them all.

export class Refused extends Error {}

/** Ask the viewer; the answer is parsed JSON, null where there is none. */
export async function call(method, path, body) {
  const answer = await ask(method, path, body);
  return answer.status === 204 ? null : answer.json();
}

/** Ask for a text. */
export async function callText(path) {
  return (await ask("GET", path)).text();
}

async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body ? { "Content-Type": "application/json" } : {},
      body: body ? JSON.stringify(body) : undefined,
    });
  } catch {
    throw new Refused("the viewer does not answer; is `chronoforest view` still running?");
  }
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw new Refused(error ?? `the viewer answered ${answer.status}`);
}

const MAX_RETRIES = 4;

/** Listen to a job's events until it is over; `handlers` has one function per kind. Returns a function that stops. */
export function listen(address, handlers) {
  const source = new EventSource(address);
  let failures = 0;
  const close = () => source.close();
  for (const [kind, handle] of Object.entries(handlers)) {
    source.addEventListener(kind, (event) => {
      failures = 0;
      if (["done", "failed", "cancelled"].includes(kind)) close();
      handle(JSON.parse(event.data));
    });
  }
  source.onerror = () => {
    failures += 1;
    if (source.readyState === EventSource.CLOSED || failures > MAX_RETRIES) {
      close();
      handlers.failed({ error: "the connection to the viewer was lost" });
    }
  };
  return close;
}

/** The same of a leg of a plan. */
export function stateOf({ is_met: isMet, evidence }) {
  if (!isMet) return "unmet";
  return evidence === "proposed" ? "proposed" : "met";
}

export class Run {
  /** request: in the user's coordinates; frame: what turns them into the plane of the page. */
  constructor(request, frame) {
    this.request = request;
    this.frame = frame;
    this.names = [
      ...request.starts.map((_, k) => `S${k + 1}`),
      ...request.waypoints.map((_, k) => `W${k + 1}`),
      ...request.goals.map((_, k) => `G${k + 1}`),
    ];
    this.places = [...request.starts, ...request.waypoints, ...request.goals].map((place) => frame.toLocal(place));
    this.rounds = [];
    this.outset = null;
    this.plan = null;
    this.state = "waiting";
    this.isStale = false;
  }

  get isOver() {
    return ["done", "failed", "cancelled"].includes(this.state);
  }

  get flips() {
    return this.rounds.filter((round) => round.isFlip).map((round) => round.round);
  }

  /** Ask for the plan; `onChange` is called whenever something is new. Resolves when the run is over. */
  start(onChange) {
    return new Promise((resolve) => {
      const end = (state, error) => {
        if (this.isOver) return;
        this.state = state;
        this.error = error;
        this.stop?.();
        onChange(this);
        resolve(this);
      };
      this.end = end;
      call("POST", "/api/plan", this.request).then(
        ({ id, events }) => {
          this.id = id;
          if (this.isOver) return void call("DELETE", `/api/plans/${id}`).catch(() => {});
          this.stop = listen(events, {
            start: (values) => { this.state = "running"; this.outset = this.completed(values); onChange(this); },
            round: (values) => { this.state = "running"; this.add(values); onChange(this); },
            plan: (values) => { this.plan = values; },
            done: () => end("done"),
            failed: ({ error }) => end("failed", error),
            cancelled: () => end("cancelled"),
          });
        },
        (error) => end("failed", error.message),
      );
    });
  }

  /** End at once here, and tell the planner. */
  cancel() {
    if (this.isOver) return;
    this.end("cancelled");
    if (this.id) call("DELETE", `/api/plans/${this.id}`).catch(() => {});
  }

  /** A number for a pair of anchors. */
  key(source, target) {
    return source * this.places.length + target;
  }

  /** Those of several pairs. */
  keys(pairs = []) {
    return new Set(pairs.map(([source, target]) => this.key(source, target)));
  }

  add(values) {
    this.rounds.push(this.completed(values, this.rounds.at(-1) ?? this.outset));
  }

  /** A round of the search; before the first one, what was guessed. */
  roundAt(index) {
    return this.rounds[index] ?? this.outset;
  }

  /** The number of the first thing there is to see: -1 for a guess. */
  get firstRound() {
    return this.outset ? -1 : 0;
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

  /** Legs of a round's route; `path` is null where the leg is not met, and may be one that nobody has verified. */
  legs(round) {
    return round.route.flatMap((order, agent) =>
      order.slice(1).map((target, k) => {
        const key = this.key(order[k], target);
        const path = round.met.has(key) ? round.paths.get(key) : null;
        return { agent, source: order[k], target, path, isProposed: round.proposed.has(key) };
      }),
    );
  }

  /** Whether a round is the last of a finished plan, which may have taken another order than the tentative one. */
  isFinal(index) {
    return Boolean(this.plan) && index === this.rounds.length - 1;
  }

  /** Per agent, the names it visits and what is known of each leg: of the plan at its end, else of the tentative route. */
  routeAt(index) {
    if (this.isFinal(index)) return this.plan.routes.map(({ order, legs }) => ({ order, states: legs.map(stateOf) }));
    const round = this.roundAt(index);
    return round.route.map((rows) => ({
      order: rows.map((row) => this.names[row]),
      states: rows.slice(1).map((row, k) => this.stateIn(round, this.key(rows[k], row))),
    }));
  }

  /** What a round knows of a leg: "met", met but only "proposed", or "unmet". */
  stateIn(round, key) {
    if (!round.met.has(key)) return "unmet";
    return round.proposed.has(key) ? "proposed" : "met";
  }
}
