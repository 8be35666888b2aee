/**
 * Acme's chat API: an invented provider, as the worked example of `docs/add_an_adapter.md`.
 *
 * @module
 */

import { type AdapterOptions, settingsOf } from "../../../adapters/kit/options/adapter_options.ts";
import { jsonBody, withExtra } from "../../../adapters/kit/request/json_body.ts";
import { streamFnOf } from "../../../adapters/kit/provider.ts";
import { SseParser } from "../../../adapters/kit/stream/sse.ts";
import type { StreamFn } from "../../../src/core/stream.ts";
import { acmeMessages } from "./request.ts";
import { AcmeReply } from "./response.ts";

/** Makes a stream function for Acme. */
export function createAcme(options: AdapterOptions = {}): StreamFn {
  const settings = settingsOf(options, "https://api.acme.example");
  return streamFnOf({
    settings,
    apiKey: options.apiKey,
    errors: {
      codes: { acme_is_full: { code: "network_error" } },
      wordings: [[/your trial has ended/i, { code: "model_throttled", retryable: false }]],
    },
    parser: () => new SseParser(),
    reply: ({ writer, origin }) => new AcmeReply(writer, origin),
    prepare({ request, writer }, key = "") {
      const { model, context, options } = request;
      if (options.temperature !== undefined) {
        writer.warning("temperature_left_out", "Acme takes no temperature");
      }
      const body = {
        model: model.modelId,
        system: context.systemPrompt || undefined,
        messages: acmeMessages(context.messages, model),
        limit: options.maxTokens,
      };
      return {
        url: `${settings.baseUrl}/v1/talk`,
        headers: { "content-type": "application/json", "acme-key": key },
        body: jsonBody(withExtra(body, options.extra, writer)),
      };
    },
  });
}
