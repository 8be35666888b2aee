/**
 * HTTP servers for tests, on a free loopback port.
 *
 * @module
 */

import { createDeadline } from "../deadline.ts";

/** A running server. Disposing of it closes the server. */
export interface LoopbackServer extends AsyncDisposable {
  /** URL without a trailing slash. */
  readonly url: string;
}

/** Starts a server. */
export function serveLoopback(handler: Deno.ServeHandler<Deno.NetAddr>): LoopbackServer {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, signal: createDeadline() },
    handler,
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Returns a loopback URL at which no server listens. */
export function getUnusedUrl(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}
