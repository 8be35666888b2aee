/**
 * Real servers for tests: on this machine, on any free port, closed when the test leaves.
 *
 * @module
 */

/** A server that runs. */
export interface LoopbackServer extends AsyncDisposable {
  /** Its address, without a final slash. */
  readonly url: string;
}

/** Starts a server. */
export function serveLoopback(handler: Deno.ServeHandler<Deno.NetAddr>): LoopbackServer {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** An address at which nobody listens. */
export function getUnusedUrl(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}
