/**
 * The additional fields of a request body that may give the model tools.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../json/json.ts";
import type { ProviderTool } from "./server_tool.ts";

const words = (text: string): readonly string[] => text.split(" ");

/**
 * The fields that give the model no tools, by their names in the APIs of the providers. All others may: a server, a list
 * of skills, or an earlier conversation, prompt or cache that has tools.
 */
const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  // Sampling.
  ...words("temperature top_p top_k top_a min_p typical_p n seed random_seed stop stop_sequences"),
  ...words("max_tokens max_completion_tokens max_output_tokens min_tokens logit_bias ignore_eos"),
  ...words("frequency_penalty presence_penalty repetition_penalty repeat_penalty length_penalty"),
  ...words("logprobs top_logprobs generationConfig inferenceConfig options parallel_tool_calls"),
  // Reasoning and form of the reply.
  ...words("reasoning reasoning_effort include_reasoning thinking think enable_thinking effort"),
  ...words("thinking_budget prompt_mode verbosity text response_format format output_config"),
  ...words(
    "outputConfig modalities audio guided_json guided_regex guided_choice grammar prediction",
  ),
  ...words("chat_template_kwargs truncation transforms include safe_prompt"),
  // Processing, routing and records.
  ...words("service_tier serviceTier performanceConfig speed inference_geo stream_options usage"),
  ...words("store metadata requestMetadata labels user safety_identifier provider route"),
  ...words("prompt_cache_key prompt_cache_retention cache_control cache_prompt keep_alive"),
  ...words("safetySettings guardrailConfig max_tool_calls priority truncate"),
]);

/** Fields whose members are further fields of the body of a model. */
const GROUPS: ReadonlySet<string> = new Set(["additionalModelRequestFields"]);

/** Options for {@linkcode filterExtraFields}. */
export interface ExtraFieldFilter {
  /** The provider that gets the fields. */
  readonly provider: string;
  /** Whether the model may have a tool. */
  readonly isAllowed: (tool: ProviderTool) => boolean;
}

/** The additional fields that remain. */
export interface FilteredFields {
  readonly fields: JsonObject;
  /** Names of the fields that were removed, or of which a part was. */
  readonly removed: readonly string[];
}

/**
 * Removes the fields that may give the model tools which are not allowed. Each entry of `tools` counts as a tool of the
 * provider, and so does each other field that may give it tools, as `{ [name]: value }`.
 */
export function filterExtraFields(fields: JsonObject, filter: ExtraFieldFilter): FilteredFields {
  const kept: [string, unknown][] = [];
  const removed: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const part = filterField(name, value, filter);
    if (part !== value) removed.push(name);
    if (part !== undefined) kept.push([name, part]);
  }
  return removed.length === 0 ? { fields, removed } : { fields: Object.fromEntries(kept), removed };
}

/** Returns the part of a field that remains: the same value if all of it does, `undefined` if nothing does. */
function filterField(name: string, value: unknown, filter: ExtraFieldFilter): unknown {
  if (PLAIN_FIELDS.has(name)) return value;
  if (GROUPS.has(name) && isJsonObject(value)) return filterExtraFields(value, filter).fields;
  if (name === "tools" && Array.isArray(value)) {
    const tools = value.filter((tool) =>
      isAllowed(isJsonObject(tool) ? tool : { [name]: tool }, filter)
    );
    if (tools.length === value.length) return value;
    return tools.length === 0 ? undefined : tools;
  }
  return isAllowed({ [name]: value }, filter) ? value : undefined;
}

function isAllowed(definition: JsonObject, { provider, isAllowed }: ExtraFieldFilter): boolean {
  return isAllowed({ type: "provider_tool", provider, definition });
}

/** Returns the tools of the provider that fields may give the model. */
export function listExtraTools(
  fields: JsonObject | undefined,
  provider: string,
): readonly ProviderTool[] {
  const tools: ProviderTool[] = [];
  if (fields) filterExtraFields(fields, { provider, isAllowed: (tool) => tools.push(tool) > 0 });
  return tools;
}
