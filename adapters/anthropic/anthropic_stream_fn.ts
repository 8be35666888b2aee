/**
 * Stream function for Anthropic's Messages API; `createAnthropic()` loads it on the first request.
 *
 * @module
 */

import type { StreamFn } from "../../src/core/streams/stream.ts";
import {
  type AdapterOptions,
  type AdapterSettings,
  resolveSettings,
} from "../kit/options/adapter_options.ts";
import { checkOptionNames } from "../kit/options/check_options.ts";
import { createStreamFn } from "../kit/provider.ts";
import { serializeJson } from "../kit/request/json_body.ts";
import { ModelFinder } from "../kit/request/model_finder.ts";
import { FALLBACK_CLAUDE } from "./fallback_entry.ts";
import { createAnthropicRequest } from "./request.ts";

/** Options for `createAnthropic()`. */
export type AnthropicOptions = AdapterOptions;

/** Creates the stream function that `createAnthropic()` loads. */
export function createAnthropicStreamFn(options: AnthropicOptions): StreamFn {
  const resolved = resolveSettings(options, "https://api.anthropic.com");
  checkOptionNames(options, [], "the Anthropic adapter");
  const { betas: ownBetas, headers } = splitBetas(resolved.headers);
  const settings = { ...resolved, headers };
  const url = `${settings.baseUrl.replace(/\/v1(?:\/messages)?$/, "")}/v1/messages`;
  const models = new ModelFinder(settings.catalog);
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    async createParser() {
      const { JsonEventParser } = await import("../kit/stream/json_event_parser.ts");
      return new JsonEventParser();
    },
    async createReplyReader(call) {
      const { AnthropicReply } = await import("./response.ts");
      return new AnthropicReply(call);
    },
    async prepare({ request, writer }, key) {
      const entry = models.find(request.model, writer) ?? FALLBACK_CLAUDE;
      const now = settings.clock.now();
      const { body, betas: usedBetas } = await createAnthropicRequest(
        request,
        { entry, now },
        writer,
      );
      const betas = [...new Set([...usedBetas, ...ownBetas])];
      const headers = {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        ...(key && { "x-api-key": key }),
        ...(betas.length > 0 && { "anthropic-beta": betas.join(",") }),
        ...(isDirectBrowserAccess(url) && { "anthropic-dangerous-direct-browser-access": "true" }),
      };
      return { url, headers, body: serializeJson(body) };
    },
  });
}

/** Whether a browser calls Anthropic itself, which rejects requests of web pages without a header that permits them. */
function isDirectBrowserAccess(url: string): boolean {
  return globalThis.location !== undefined && url.startsWith("https://api.anthropic.com/");
}

/** Splits the caller's headers: the features of `anthropic-beta` are sent together with those that a request needs. */
function splitBetas(
  headers: AdapterSettings["headers"],
): { readonly betas: readonly string[]; readonly headers: Readonly<Record<string, string>> } {
  const isBeta = ([name]: readonly [string, string]) => name.toLowerCase() === "anthropic-beta";
  const entries = Object.entries(headers);
  const betas = entries.filter(isBeta).flatMap(([, value]) => value.split(","));
  return {
    betas: betas.map((beta) => beta.trim()).filter((beta) => beta !== ""),
    headers: Object.fromEntries(entries.filter((entry) => !isBeta(entry))),
  };
}
