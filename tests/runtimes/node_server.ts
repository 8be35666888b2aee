/**
 * An HTTP server with the interface of `Deno.serve()`, over `node:http`.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";

/** Handles a request. */
type ServeHandler = (
  request: Request,
  info: { remoteAddr: { hostname: string } },
) => Response | Promise<Response>;

/** A running server. */
interface HttpServer {
  readonly addr: { readonly port: number };
  /** Closes the server and its connections. */
  shutdown(): Promise<void>;
}

/** Starts a server on a free port. The options are ignored: without a host name, the port is known immediately. */
export function serve(_options: unknown, handler: ServeHandler): HttpServer {
  const server = createServer((incoming, outgoing) => void respond(handler, incoming, outgoing));
  server.listen(0);
  const address = server.address();
  return {
    addr: { port: typeof address === "object" && address ? address.port : 0 },
    shutdown() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function respond(
  handler: ServeHandler,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const aborting = new AbortController();
  outgoing.on("close", () => aborting.abort());
  const request = await toRequest(incoming, aborting.signal);
  const hostname = (incoming.socket.remoteAddress ?? "").replace("::ffff:", "");
  const response = await handler(request, { remoteAddr: { hostname } });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return void outgoing.end();
  const body = Readable.fromWeb(response.body as import("node:stream/web").ReadableStream);
  body.on("error", () => outgoing.destroy());
  outgoing.on("close", () => body.destroy());
  body.pipe(outgoing);
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { method = "GET", url = "/", headers } = incoming;
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const body = new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: pairs,
    signal,
    ...(body.length > 0 && { body }),
  });
}
