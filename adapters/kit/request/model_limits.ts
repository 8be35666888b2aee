/**
 * Restriction of request options to what a model supports.
 *
 * @module
 */

import { extractText } from "../../../src/core/messages/content.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type {
  ServiceTier,
  StreamOptions,
  StreamRequest,
} from "../../../src/core/streams/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import type { WarningSink } from "./warnings.ts";
import { hashText, type NameRule, toWireName } from "./wire_names.ts";

/** Returns the temperature of a request. Omits it with a warning for a model that does not support one. */
export function resolveTemperature(
  { temperature }: StreamOptions,
  entry: Pick<CatalogEntry, "temperature"> | undefined,
  sink: WarningSink,
): number | undefined {
  if (temperature === undefined || entry?.temperature !== false) return temperature;
  sink.warning("temperature_left_out", "The model does not support a temperature");
  return undefined;
}

/** Returns `topP` of a request. Omits it with a warning for a model that does not support sampling options. */
export function resolveTopP(
  { topP }: StreamOptions,
  entry: Pick<CatalogEntry, "temperature"> | undefined,
  sink: WarningSink,
): number | undefined {
  if (topP === undefined || entry?.temperature !== false) return topP;
  sink.warning("top_p_left_out", "The model does not support topP");
  return undefined;
}

/** Returns the texts that end a reply, at most `max`; the others, and empty ones, are omitted with a warning. */
export function resolveStop(
  { stop }: StreamOptions,
  max: number,
  sink: WarningSink,
): readonly string[] | undefined {
  if (stop === undefined) return undefined;
  const accepted = stop.filter((text) => text !== "").slice(0, max);
  if (accepted.length < stop.length) {
    const message = `The provider accepts at most ${max} stop texts, none of them empty`;
    sink.warning("stop_left_out", `${message}: ${stop.length - accepted.length} omitted`);
  }
  return accepted.length > 0 ? accepted : undefined;
}

/** An option that some providers do not have. */
export type OptionalOption =
  | "topP"
  | "stop"
  | "seed"
  | "serverTools"
  | "serviceTier"
  | "verbosity"
  | "reasoningSummary";

/** Warns about those of the named options that a request has and the provider does not. */
export function warnUnsupportedOptions(
  { options, model }: Pick<StreamRequest, "options" | "model">,
  names: readonly OptionalOption[],
  sink: WarningSink,
): void {
  for (const name of names) {
    const value = options[name];
    const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined;
    if (!isSet) continue;
    const code = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    sink.warning(`${code}_left_out`, `${model.provider} does not support ${name} here`);
  }
}

/** Names of service tiers in requests to a provider, by those of the library; a provider has no tier that is missing. */
export type ServiceTierNames = Readonly<Partial<Record<ServiceTier, string>>>;

/** Returns the service tier of a request by its name at the provider. Warns about one that the provider does not have. */
export function resolveServiceTier(
  { serviceTier }: StreamOptions,
  names: ServiceTierNames | undefined,
  sink: WarningSink,
): string | undefined {
  if (serviceTier === undefined || names === undefined) return serviceTier;
  const { [serviceTier]: name } = names;
  if (name === undefined) {
    const message = `The provider does not support the service tier "${serviceTier}"`;
    sink.warning("service_tier_left_out", message);
  }
  return name;
}

/** Warns when a request has a service tier whose prices are not known; the catalog has those of the default tier. */
export function warnTierPrice(
  { serviceTier }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): void {
  const hasOtherPrice = serviceTier === "flex" || serviceTier === "priority";
  if (!hasOtherPrice || !entry?.rates) return;
  const name = `${serviceTier}Requests`;
  if (entry.rates.requests?.[name] !== undefined) return;
  const advice =
    `set the fee ${name} in the requests of the rates, 0 if the rates are of this tier`;
  const problem = `The prices of the service tier "${serviceTier}" are not known`;
  sink.warning("tier_price_unknown", `${problem}, so the cost of its replies is not: ${advice}`);
}

/** Names of sessions that providers accept, as fields and as headers. */
const SESSION_RULE: NameRule = { forbidden: /[^\x21-\x7e]/g, maxLength: 64 };

/**
 * Returns the id by which a provider finds the cached prompt, at most 64 characters: the session id, or a hash of how the
 * conversation starts; none if caching is off and there is no session id.
 */
export function resolveSessionId(
  { options, context: { systemPrompt, messages } }: Pick<StreamRequest, "options" | "context">,
): string | undefined {
  if (options.sessionId) return toWireName(options.sessionId, SESSION_RULE);
  if (options.cache === "off") return undefined;
  return hashText(systemPrompt + extractText(messages[0]?.content ?? []), 14);
}

/** Returns `maxTokens` of a request. Lowers it to the limit of the model with a warning. */
export function resolveMaxTokens(
  { maxTokens }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): number | undefined {
  if (maxTokens === undefined || entry === undefined || maxTokens <= entry.maxOutput) {
    return maxTokens;
  }
  sink.warning(
    "max_tokens_lowered",
    `maxTokens was lowered to ${entry.maxOutput}, the limit of the model`,
  );
  return entry.maxOutput;
}

/** Warns when a thinking level is requested from a model whose reasoning cannot be controlled. */
export function warnUnsupportedThinking(
  { modelId, thinkingLevel }: ModelSpec,
  entry: Pick<CatalogEntry, "thinking"> | undefined,
  sink: WarningSink,
): void {
  if (thinkingLevel === "off" || entry?.thinking.type !== "none") return;
  sink.warning("thinking_left_out", `The thinking level of ${modelId} cannot be set`);
}
