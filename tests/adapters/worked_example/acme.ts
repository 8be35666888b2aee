/**
 * Acme's chat API: an invented provider, as the worked example of `docs/add_an_adapter.md`.
 *
 * @module
 */

import {
  type AdapterOptions,
  resolveSettings,
} from "../../../adapters/kit/options/adapter_options.ts";
import { mergeExtraFields, serializeJson } from "../../../adapters/kit/request/json_body.ts";
import { createStreamFn } from "../../../adapters/kit/provider.ts";
import { SseParser } from "../../../adapters/kit/stream/sse.ts";
import type { StreamFn } from "../../../src/core/stream.ts";
import { toAcmeMessages } from "./request.ts";
import { AcmeReply } from "./response.ts";

/** Makes a stream function for Acme. */
export function createAcme(options: AdapterOptions = {}): StreamFn {
  const settings = resolveSettings(options, "https://api.acme.example");
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    errors: {
      codes: { acme_is_full: { code: "network_error" } },
      patterns: [[/your trial has ended/i, { code: "model_throttled", retryable: false }]],
    },
    createParser: () => new SseParser(),
    createReplyReader: ({ writer, origin }) => new AcmeReply(writer, origin),
    prepare({ request, writer }, key = "") {
      const { model, context, options } = request;
      if (options.temperature !== undefined) {
        writer.warning("temperature_left_out", "Acme takes no temperature");
      }
      const body = {
        model: model.modelId,
        system: context.systemPrompt || undefined,
        messages: toAcmeMessages(context.messages, model),
        limit: options.maxTokens,
      };
      return {
        url: `${settings.baseUrl}/v1/talk`,
        headers: { "content-type": "application/json", "acme-key": key },
        body: serializeJson(mergeExtraFields(body, options.extra, writer)),
      };
    },
  });
}
