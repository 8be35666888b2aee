/**
 * Chat API of Acme, a fictional provider: the worked example of `docs/add_an_adapter.md`.
 *
 * @module
 */

import type { StreamFn } from "@swink/agent";
import {
  adaptContent,
  type AdapterOptions,
  checkOptionNames,
  createStreamFn,
  mergeExtraFields,
  resolveSettings,
  serializeJson,
  SseParser,
  TOOL_NAME_RULE,
  toWireName,
  warnUnsupportedOptions,
} from "@swink/agent/adapters/kit";
import { toAcmeMessages } from "./request.ts";
import { AcmeReply } from "./response.ts";

const UNSUPPORTED = [
  "topP",
  "stop",
  "seed",
  "serverTools",
  "serviceTier",
  "verbosity",
  "reasoningSummary",
] as const;

/** Creates a stream function for Acme. */
export function createAcme(options: AdapterOptions = {}): StreamFn {
  checkOptionNames(options, [], "the Acme adapter"); // a misspelt baseUrl would lead to api.acme.example
  const settings = resolveSettings(options, "https://api.acme.example");
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    errors: {
      codes: { acme_overloaded: { code: "network_error" } },
      patterns: [[/your trial has ended/i, { code: "model_throttled", retryable: false }]],
    },
    createParser: () => new SseParser(),
    createReplyReader: (call) => new AcmeReply(call),
    async prepare({ request, writer }, key = "") {
      const { model, context, options } = request;
      if (options.temperature !== undefined) {
        writer.warning("temperature_left_out", "Acme does not support a temperature");
      }
      warnUnsupportedOptions(request, UNSUPPORTED, writer);
      // Acme accepts text only: images and documents are replaced, with a warning.
      const messages = await adaptContent(request, {}, writer);
      const body = {
        model: model.modelId,
        system: context.systemPrompt || undefined,
        messages: toAcmeMessages(messages, model),
        tools: context.tools.map(({ name, description, parameters }) => ({
          name: toWireName(name, TOOL_NAME_RULE),
          description,
          parameters,
        })),
        choice: options.toolChoice,
        limit: options.maxTokens,
      };
      return {
        url: `${settings.baseUrl}/v1/chat`,
        headers: { "content-type": "application/json", "acme-key": key },
        body: serializeJson(mergeExtraFields(body, options.extra, writer)),
      };
    },
  });
}
