/**
 * An HTTP server with the interface of `Deno.serve()`, over `node:http`.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";

/** Handles a request. */
type ServeHandler = (
  request: Request,
  info: { remoteAddr: { hostname: string } },
) => Response | Promise<Response>;

/** A running server. */
interface HttpServer extends AsyncDisposable {
  readonly addr: { readonly port: number };
  /** Closes the server and its connections. */
  shutdown(): Promise<void>;
}

/** Starts a server on a free port. Of the options only `signal` is used: without a host name, the port is known immediately. */
export function serve(
  { signal }: { readonly signal?: AbortSignal },
  handler: ServeHandler,
): HttpServer {
  const server = createServer((incoming, outgoing) => {
    respond(handler, incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0);
  const { port } = server.address() as AddressInfo;
  const shutdown = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  signal?.addEventListener("abort", shutdown);
  return { addr: { port }, shutdown, [Symbol.asyncDispose]: shutdown };
}

async function respond(
  handler: ServeHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const aborting = new AbortController();
  outgoing.on("close", () => aborting.abort());
  const request = toRequest(incoming, aborting.signal);
  const hostname = (incoming.socket.remoteAddress ?? "").replace("::ffff:", "");
  const response = await handler(request, { remoteAddr: { hostname } });
  const headers = [...response.headers].flat(); // several cookies stay so
  outgoing.writeHead(response.status, headers);
  if (!response.body) return void outgoing.end();
  outgoing.flushHeaders();
  const body = Readable.fromWeb(response.body as NodeStream);
  body.on("error", () => outgoing.destroy());
  outgoing.on("close", () => body.destroy());
  body.pipe(outgoing);
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", url = "/", headers } = incoming;
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: pairs,
    signal,
    ...(hasBody && { body: toBody(incoming), duplex: "half" }),
  });
}

/** Converts a body that may be left unread, after which the stream of `Readable.toWeb()` fails on Node 20. */
function toBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    // The rest of the body is not read; the connection stays open for the response.
    cancel: () => {},
  }, { highWaterMark: 0 });
}
