/**
 * Stream function for Mistral; `createMistral()` loads it on the first request.
 *
 * @module
 */

import type { StreamFn } from "../../src/core/streams/stream.ts";
import { type ErrorTable, THROTTLED, UNKNOWN_MODEL } from "../kit/errors/error_table.ts";
import { type AdapterOptions, resolveSettings } from "../kit/options/adapter_options.ts";
import { checkOptionNames } from "../kit/options/check_options.ts";
import { createChat } from "../openai/chat/chat.ts";
import { MISTRAL_DIALECT } from "./request.ts";

/** Options for `createMistral()`. */
export type MistralOptions = AdapterOptions;

const ERRORS: ErrorTable = {
  codes: { service_tier_capacity_exceeded: THROTTLED, invalid_model: UNKNOWN_MODEL },
};

/** Creates the stream function that `createMistral()` loads. */
export function createMistralStreamFn(options: MistralOptions): StreamFn {
  const settings = resolveSettings(options, "https://api.mistral.ai/v1");
  checkOptionNames(options, [], "the Mistral adapter");
  return createChat({ settings, apiKey: options.apiKey, dialect: MISTRAL_DIALECT, errors: ERRORS });
}
