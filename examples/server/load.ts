// Prompts many sessions at the same time, reads all of their events, and checks that none is lost or repeated.
//
//     TOKEN=… deno run -A examples/server/load.ts http://127.0.0.1:8787 [SESSIONS]
//
// Kill a server process meanwhile: the other one continues its runs, and clients connect again.

const [base = "http://127.0.0.1:8787", count = "50"] = Deno.args;
const token = Deno.env.get("TOKEN") ?? "";

interface Entry {
  readonly id: string;
  readonly type: string;
}

interface SessionEvent {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: { readonly status?: string } & Entry;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Sends a request, again while the server is not available. */
async function call(
  method: string,
  path: string,
  { body, headers }: { body?: object; headers?: Record<string, string> } = {},
): Promise<Response> {
  for (let attempt = 1;; attempt++) {
    const response = await fetch(`${base}/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      body: body ? JSON.stringify(body) : null,
    }).catch(() => undefined);
    const isBusy = !response || response.status >= 500 || response.status === 429 ||
      response.status === 409 && (await response.clone().json()).error.code === "session_busy";
    if (response && (!isBusy || attempt === 200)) return response;
    await response?.body?.cancel();
    await pause(100 + Math.random() * 200);
  }
}

async function* readEvents(response: Response): AsyncGenerator<SessionEvent> {
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = (text + chunk).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const [, id] = /^id: (.*)$/m.exec(frame) ?? [];
      const [, type] = /^event: (.*)$/m.exec(frame) ?? [];
      const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
      if (type !== undefined && data !== undefined) yield { id, type, data: JSON.parse(data) };
    }
  }
}

/** The observations of one client. */
interface Outcome {
  readonly milliseconds: number;
  readonly reconnects: number;
  readonly isExact: boolean;
}

async function runSession(): Promise<Outcome> {
  const started = performance.now();
  const id = crypto.randomUUID();
  const created = await call("POST", "sessions", { body: { id } });
  // A request whose answer was lost may have created it.
  if (created.status !== 201 && created.status !== 409) throw new Error(await created.text());
  await created.body?.cancel();
  const prompted = await call("POST", `sessions/${id}/prompt`, {
    body: { text: "Count" },
    headers: { "idempotency-key": id },
  });
  await prompted.body?.cancel();
  const entries: string[] = [];
  let last: string | undefined;
  let connections = 0;
  for (let isDone = false; !isDone;) {
    connections++;
    const headers = last === undefined ? {} : { "last-event-id": last };
    const response = await call("GET", `sessions/${id}/events`, { headers });
    try {
      for await (const { id: position, type, data } of readEvents(response)) {
        last = position ?? last;
        if (type === "entry") entries.push(data.id);
        if (type === "state" && data.status === "idle") isDone = true;
        if (isDone) break;
      }
    } catch {
      // The connection broke; the next one begins after the last event.
    }
    if (!isDone) await pause(200);
  }
  const log = await (await call("GET", `sessions/${id}/entries?limit=200`)).json();
  const expected = log.entries.map((entry: Entry) => entry.id);
  return {
    milliseconds: performance.now() - started,
    reconnects: connections - 1,
    isExact: JSON.stringify(entries) === JSON.stringify(expected),
  };
}

const started = performance.now();
const outcomes = await Promise.all(Array.from({ length: Number(count) }, runSession));
const times = outcomes.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
const reconnects = outcomes.reduce((total, outcome) => total + outcome.reconnects, 0);
const format = (quantile: number) =>
  `${((times[Math.floor(quantile * (times.length - 1))] ?? NaN) / 1000).toFixed(1)} s`;
console.log(
  `${outcomes.length} sessions in ${((performance.now() - started) / 1000).toFixed(1)} s`,
);
console.log(`time of a session: p50 ${format(0.5)}, p99 ${format(0.99)}`);
console.log(`${reconnects} reconnections`);
const inexact = outcomes.filter(({ isExact }) => !isExact).length;
console.log(`${inexact} sessions with lost or repeated entries`);
Deno.exit(inexact === 0 ? 0 : 1);
