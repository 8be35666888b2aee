/**
 * The attributes of spans.
 *
 * @module
 */

import { refusePromise } from "../core/errors/refuse_promise.ts";
import type { ModelCallEndEvent } from "../core/events/event.ts";
import type { CompactionReport } from "../core/messages/compaction_report.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type { Usage } from "../core/models/usage.ts";
import type { StreamRequest } from "../core/streams/stream.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { Attributes } from "./api.ts";
import { formatInstructions, formatMessages } from "./message_parts.ts";
import { countInput } from "./metrics.ts";
import type { ContentFilter } from "./options.ts";
import { getProviderName } from "./provider_name.ts";

/** Returns `provider/model`. */
export function formatModel({ provider, modelId }: ModelSpec): string {
  return `${provider}/${modelId}`;
}

/** Describes a model. */
export function describeModel({ provider, modelId }: ModelSpec): Attributes {
  return { "gen_ai.provider.name": getProviderName(provider), "gen_ai.request.model": modelId };
}

/** Describes a tool call. */
export function describeCall(
  { id, name }: { readonly id: string; readonly name: string },
): Attributes {
  return { "gen_ai.tool.name": name, "gen_ai.tool.call.id": id };
}

/** Describes the options of a request. */
export function describeRequest({ options }: Pick<StreamRequest, "options">): Attributes {
  const { maxTokens, temperature, topP, stop, seed, responseSchema } = options;
  return {
    ...(maxTokens !== undefined && { "gen_ai.request.max_tokens": maxTokens }),
    ...(temperature !== undefined && { "gen_ai.request.temperature": temperature }),
    ...(topP !== undefined && { "gen_ai.request.top_p": topP }),
    ...(stop !== undefined && { "gen_ai.request.stop_sequences": [...stop] }),
    ...(seed !== undefined && { "gen_ai.request.seed": seed }),
    ...(responseSchema !== undefined && { "gen_ai.output.type": "json" }),
  };
}

/** Describes the content of a request. */
export function describeContent(
  { context }: Pick<StreamRequest, "context">,
): Record<string, string> {
  const { systemPrompt, messages, tools } = context;
  const definitions = tools.map((tool) => ({ type: "function", ...tool }));
  return {
    ...(systemPrompt !== "" && { "gen_ai.system_instructions": formatInstructions(systemPrompt) }),
    "gen_ai.input.messages": formatMessages(messages),
    ...(tools.length > 0 && { "gen_ai.tool.definitions": JSON.stringify(definitions) }),
  };
}

/** Applies the filter of the program to attributes; those for which it fails are left out. */
export function filterTexts(
  texts: Readonly<Record<string, string>>,
  filter: ContentFilter,
): Attributes {
  const attributes: Attributes = {};
  for (const [name, text] of Object.entries(texts)) {
    const filtered = filterText(text, filter);
    if (filtered !== undefined) attributes[name] = filtered;
  }
  return attributes;
}

/** Returns the text to record; `undefined` without a filter, or if it fails or returns no text. */
export function filterText(text: string, filter: ContentFilter | undefined): string | undefined {
  try {
    const filtered: unknown = filter?.(text);
    refusePromise(filtered, "content");
    return typeof filtered === "string" ? filtered : undefined;
  } catch {
    return undefined; // A text that is not filtered may be secret.
  }
}

/** Describes the outcome of a model call. */
export function describeAttempt({ responseId, ttftMs, usage }: ModelCallEndEvent): Attributes {
  return {
    ...(responseId !== undefined && { "gen_ai.response.id": responseId }),
    ...(ttftMs !== undefined && { "gen_ai.response.time_to_first_chunk": ttftMs / 1000 }),
    ...describeUsage(usage),
  };
}

/** Describes token counts. Cached tokens are part of the input tokens, other than in `Usage`. */
export function describeUsage(usage: Usage): Attributes {
  const { output, cacheRead, cacheWrite, extra = {} } = usage;
  const { reasoning } = extra;
  return {
    "gen_ai.usage.input_tokens": countInput(usage),
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cacheRead,
    "gen_ai.usage.cache_write.input_tokens": cacheWrite,
    ...(reasoning !== undefined && { "gen_ai.usage.reasoning.output_tokens": reasoning }),
  };
}

/** Describes the model call that has written the summary of a compaction; it has no span, since only its outcome is known. */
export function describeSummary({ usage, cost }: CompactionReport): Attributes {
  return {
    ...(usage && describeUsage(usage)),
    ...(typeof cost?.total === "number" && { "swink.cost.total": cost.total }),
  };
}

/** Returns the attributes that a tool adds; none if it fails, which must not end the run. */
export function readAttributes({ traceAttributes }: AgentTool): Attributes {
  try {
    return { ...traceAttributes?.() };
  } catch {
    return {};
  }
}
