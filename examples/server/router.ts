// Routes requests to any process that runs: each of them serves all sessions.

/** A server process. */
export interface Worker {
  readonly name: string;
  /** Its address; missing while it does not run. */
  url: string | undefined;
  pid?: number;
  /** Stops it in order. */
  stop(): Promise<void>;
}

/** Starts the router. */
export function startRouter(
  workers: readonly Worker[],
  port: number,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = request.body ? await request.bytes() : null;
    for (const worker of order(workers)) {
      if (worker.url === undefined) continue;
      const headers = new Headers(request.headers);
      headers.set("host", new URL(worker.url).host);
      try {
        const init = { method: request.method, headers, body, redirect: "manual" } as const;
        return await fetch(worker.url + pathname + search, init);
      } catch {
        // It has ended; the request had no answer, and a prompt has an idempotency key.
      }
    }
    return Response.json({
      error: { code: "storage_failed", message: "No server is running: try again" },
    }, { status: 503, headers: { "retry-after": "1" } });
  });
}

/** Returns the workers, any of them first. */
function order(workers: readonly Worker[]): readonly Worker[] {
  const first = Math.floor(Math.random() * workers.length);
  return [...workers.slice(first), ...workers.slice(0, first)];
}
