/**
 * HTTP servers for tests, on a free loopback port.
 *
 * @module
 */

import { createDeadline, DEADLINE_MS } from "../deadline.ts";

/** A running server. Disposing of it closes the server. */
export interface LoopbackServer extends AsyncDisposable {
  /** URL without a trailing slash. */
  readonly url: string;
}

/** Starts a server, which closes after `milliseconds` in any case. Default: two minutes. */
export function serveLoopback(
  handler: Deno.ServeHandler<Deno.NetAddr>,
  milliseconds: number = DEADLINE_MS,
): LoopbackServer {
  // A signal that aborts when the server is closed already would end the process with an error.
  const closing = new AbortController();
  const deadline = createDeadline(milliseconds);
  const close = () => closing.abort(deadline.reason);
  deadline.addEventListener("abort", close);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, signal: closing.signal },
    handler,
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    async [Symbol.asyncDispose]() {
      deadline.removeEventListener("abort", close);
      await server.shutdown();
    },
  };
}

/** Returns a loopback URL at which no server listens. */
export function getUnusedUrl(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}
