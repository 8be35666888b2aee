/**
 * Stream function for a proxy; `createProxy()` loads it on the first request.
 *
 * @module
 */

import { BadRequestError } from "../../src/core/errors/errors.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { StreamFn, StreamRequest } from "../../src/core/streams/stream.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { checkOptionNames } from "../kit/options/check_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { JsonEventParser } from "../kit/stream/json_event_parser.ts";
import { PROXY_ERRORS } from "./errors.ts";
import { ProxyReply } from "./response.ts";
import type { ProxyRequest } from "./wire.ts";

/** Options for `createProxy()`. */
export interface ProxyOptions extends AdapterOptions {
  /** URL of the proxy; requests are posted to exactly this URL. */
  readonly baseUrl: string;
}

/** Creates the stream function that `createProxy()` loads. */
export function createProxyStreamFn(options: ProxyOptions): StreamFn {
  const settings = resolveSettings(options, "");
  checkOptionNames(options, [], "the proxy adapter");
  if (settings.baseUrl === "") {
    const message = "No URL for the proxy: pass baseUrl to createProxy()";
    throw new BadRequestError(message, { provider: "proxy" });
  }
  return createStreamFn({
    name: "proxy",
    settings,
    apiKey: options.apiKey,
    // The proxy decides whether it requires a token.
    keyless: true,
    errors: PROXY_ERRORS,
    createParser: () => new JsonEventParser(),
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

/** Returns a message without the data of the application and the details for displays, which are not for the model. */
function toWireMessage({ metadata: _metadata, ...message }: LlmMessage): LlmMessage {
  switch (message.role) {
    case "user":
      return message;
    case "assistant":
      return stripProxyPrefix(message);
    case "tool_result": {
      const { details: _details, ...wireMessage } = message;
      return wireMessage;
    }
  }
}

/** Resolves `proxy/anthropic/claude-sonnet-5-5` to `anthropic/claude-sonnet-5-5`. */
function stripProxyPrefix<Named extends { readonly provider: string; readonly modelId: string }>(
  named: Named,
): Named {
  const { provider, modelId: path } = named;
  if (provider !== "proxy") return named;
  const slash = path.indexOf("/");
  if (slash > 0) {
    return { ...named, provider: path.slice(0, slash), modelId: path.slice(slash + 1) };
  }
  throw new BadRequestError(
    `Cannot parse the model "proxy/${path}": write it as proxy/provider/model`,
    { provider },
  );
}
