/**
 * A proxy between agents and models: {@linkcode createProxy} is the agent's end, {@linkcode serveProxy} the other.
 *
 * The models' keys stay with the proxy. An agent has a token for the proxy and nothing else.
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
import { ProxyReply } from "./response.ts";
import { PROXY_ERRORS, type ProxyRequest } from "./wire.ts";

export type { AdapterOptions } from "../kit/options/adapter_options.ts";
export {
  type Authorize,
  type ProxyConnection,
  type ProxyHandler,
  serveProxy,
  type ServeProxyOptions,
} from "./serve.ts";
export type { ProxyDoneEvent, ProxyErrorEvent, ProxyEvent, ProxyRequest } from "./wire.ts";

/** Options of {@linkcode createProxy}. */
export interface ProxyOptions extends AdapterOptions {
  /** Where the proxy is; requests are posted to this very address. */
  readonly baseUrl: string;
}

/**
 * Makes a stream function that asks a proxy, which asks the model.
 *
 * The `apiKey` is the token for the proxy and travels as a bearer token. It never goes into a request's body. A model
 * may be named as the proxy knows it, or with `proxy/` before that.
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
    // Whether it wants a token is for the proxy to say.
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
  const { apiKey: _apiKey, ...others } = options;
  return {
    model: stripProxyPrefix(model),
    systemPrompt: context.systemPrompt,
    messages: context.messages.map(toWireMessage),
    tools: context.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    })),
    options: others,
  };
}

function toWireMessage(message: LlmMessage): LlmMessage {
  switch (message.role) {
    case "user":
      return message;
    case "assistant":
      return stripProxyPrefix(message);
    case "tool_result": {
      // Details are for displays and logs on the agent's side.
      const { details: _details, ...shown } = message;
      return shown;
    }
  }
}

/** `proxy/anthropic/claude-sonnet-5-5` is a model of Anthropic for the proxy. */
function stripProxyPrefix<Named extends { readonly provider: string; readonly modelId: string }>(
  named: Named,
): Named {
  if (named.provider !== "proxy") return named;
  const { provider, modelId } = modelSpec(named.modelId);
  return { ...named, provider, modelId };
}
