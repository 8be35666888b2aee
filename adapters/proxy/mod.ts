/**
 * Connects agents to models through a proxy that keeps the API keys on a server.
 *
 * {@linkcode createProxy} makes the stream function of an agent that calls the proxy at `baseUrl`;
 * {@linkcode serveProxy} makes the HTTP handler of the proxy from any stream function, usually that of `connect()`, and
 * `authorize` decides which callers it serves. The agent's `apiKey` is a token for the proxy; only `connect()` reads
 * token and URL from `SWINK_PROXY_TOKEN` and `SWINK_PROXY_URL`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createProxy, serveProxy } from "@swink/agent/adapters/proxy";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const models = scriptedStream([reply("Hello")]); // connect() in production
 * const handler = serveProxy(models, { authorize: (token) => token === "my-token" });
 * const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handler);
 *
 * const agent = new Agent({
 *   model: "anthropic/claude-sonnet-5-5",
 *   streamFn: createProxy({ baseUrl: `http://127.0.0.1:${server.addr.port}`, apiKey: "my-token" }),
 * });
 * await agent.prompt("Hi");
 *
 * await server.shutdown();
 * ```
 *
 * @module
 */

import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { withCatalog } from "../kit/request/with_catalog.ts";
import type { ProxyOptions } from "./proxy_stream_fn.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export {
  type Authorize,
  type ProxyConnection,
  type ProxyHandler,
  serveProxy,
  type ServeProxyOptions,
} from "./serve.ts";
export type { ProxyDoneEvent, ProxyErrorEvent, ProxyEvent, ProxyRequest } from "./wire.ts";
export type { ProxyOptions };

/**
 * Creates a stream function that calls models through a proxy.
 *
 * The `apiKey` is the token for the proxy; it is sent as a bearer token and never in a request body. Model names may
 * have the prefix `proxy/`, as in `proxy/anthropic/claude-sonnet-5-5`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createProxy } from "@swink/agent/adapters/proxy";
 *
 * const agent = new Agent({
 *   model: "anthropic/claude-sonnet-5-5",
 *   streamFn: createProxy({ baseUrl: "https://models.example.com/agent", apiKey: "my-token" }),
 * });
 * ```
 */
export function createProxy(options: ProxyOptions): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const { createProxyStreamFn } = await import("./proxy_stream_fn.ts");
    return createProxyStreamFn(options);
  });
  // Callers without types may pass `null`, which the loaded function refuses.
  return withCatalog(streamFn, options?.catalog);
}
