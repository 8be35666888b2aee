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

import type { LlmMessage } from "../../src/core/message.ts";
import { modelSpec } from "../../src/core/model.ts";
import type { StreamFn, StreamRequest } from "../../src/core/stream.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { SseParser } from "../kit/stream/sse.ts";
import { PROXY_ERRORS } from "./errors.ts";
import { ProxyReply } from "./response.ts";
import type { ProxyRequest } from "./wire.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export {
  type Authorize,
  type ProxyConnection,
  type ProxyHandler,
  serveProxy,
  type ServeProxyOptions,
} from "./serve.ts";
export type { ProxyDoneEvent, ProxyErrorEvent, ProxyEvent, ProxyRequest } from "./wire.ts";

/** Options for {@linkcode createProxy}. */
export interface ProxyOptions extends AdapterOptions {
  /** URL of the proxy; requests are posted to exactly this URL. */
  readonly baseUrl: string;
}

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
  const settings = resolveSettings(options, options.baseUrl);
  return createStreamFn({
    name: "proxy",
    settings,
    apiKey: options.apiKey,
    // The proxy decides whether it requires a token.
    keyless: true,
    errors: PROXY_ERRORS,
    createParser: () => new SseParser(),
    createReplyReader: ({ writer, origin }) => new ProxyReply(writer, origin),
    prepare: ({ request }, key) => ({
      url: settings.baseUrl,
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream",
        ...(key && { authorization: `Bearer ${key}` }),
      },
      body: serializeJson(toProxyRequest(request)),
    }),
  });
}

function toProxyRequest({ model, context, options }: StreamRequest): ProxyRequest {
  const { apiKey: _apiKey, ...wireOptions } = options;
  return {
    model: stripProxyPrefix(model),
    systemPrompt: context.systemPrompt,
    messages: context.messages.map(toWireMessage),
    tools: context.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    })),
    options: wireOptions,
  };
}

function toWireMessage(message: LlmMessage): LlmMessage {
  switch (message.role) {
    case "user":
      return message;
    case "assistant":
      return stripProxyPrefix(message);
    case "tool_result": {
      // Details are for displays and logs of the agent, not for the model.
      const { details: _details, ...wireMessage } = message;
      return wireMessage;
    }
  }
}

/** Resolves `proxy/anthropic/claude-sonnet-5-5` to `anthropic/claude-sonnet-5-5`. */
function stripProxyPrefix<Named extends { readonly provider: string; readonly modelId: string }>(
  named: Named,
): Named {
  if (named.provider !== "proxy") return named;
  const { provider, modelId } = modelSpec(named.modelId);
  return { ...named, provider, modelId };
}
