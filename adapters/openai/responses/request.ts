/**
 * A model call becomes a request to the Responses API.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../../src/core/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import { withoutImages } from "../../kit/request/history.ts";
import { withExtra } from "../../kit/request/json_body.ts";
import { maxTokensOf, temperatureOf, warnOfThinking } from "../../kit/request/model_limits.ts";
import { sortedTools } from "../../kit/request/tools.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { TOOL_NAME_RULE, wireName } from "../../kit/request/wire_names.ts";
import { objectSchema, schemaOf } from "../chat/request.ts";
import { chatEffort } from "../chat/dialect.ts";
import { responsesInput } from "./input.ts";

/** Models whose prompts OpenAI keeps for a day when asked to. */
const KEEPS_PROMPTS = /^gpt-(?:4\.1|5)/;

/** Writes the body; whatever the model cannot take is left out with a warning. */
export function responsesBody(
  { model, context, options }: StreamRequest,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject {
  const history = entry?.images === false
    ? withoutImages(context.messages, sink)
    : context.messages;
  const format = schemaOf(options, entry, sink);
  warnOfThinking(model, entry, sink);
  const hasTools = context.tools.length > 0;
  const body = {
    model: model.modelId,
    stream: true,
    // Nothing is kept at the provider: reasoning comes encrypted, and goes back with the history.
    store: false,
    instructions: context.systemPrompt.trim() === "" ? undefined : context.systemPrompt,
    input: responsesInput(history, model),
    tools: hasTools ? responsesTools(context.tools) : undefined,
    tool_choice: hasTools ? toolChoiceOf(options) : undefined,
    temperature: temperatureOf(options, entry, sink),
    max_output_tokens: maxTokensOf(options, entry, sink),
    ...reasoningOf({ model, entry }),
    text: format && { format: { type: "json_schema", ...format } },
    prompt_cache_key: options.sessionId,
    prompt_cache_retention: retentionOf(options, model.modelId, sink),
  };
  return withExtra(body, options.extra, sink);
}

function responsesTools(tools: readonly ToolSpec[]): JsonObject[] {
  return sortedTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    name: wireName(name, TOOL_NAME_RULE),
    description,
    parameters: objectSchema(parameters),
    strict: false,
  }));
}

function toolChoiceOf({ toolChoice }: StreamOptions): unknown {
  if (typeof toolChoice !== "object") return toolChoice;
  return { type: "function", name: wireName(toolChoice.name, TOOL_NAME_RULE) };
}

function reasoningOf(
  { model, entry }: Pick<StreamRequest, "model"> & { entry: CatalogEntry | undefined },
): JsonObject {
  const effort = chatEffort(model, entry?.thinking);
  if (effort === undefined) return {};
  const summary = model.thinkingLevel === "off" ? {} : { summary: "auto" };
  return { reasoning: { effort, ...summary }, include: ["reasoning.encrypted_content"] };
}

function retentionOf(
  { cache }: StreamOptions,
  modelId: string,
  sink: WarningSink,
): string | undefined {
  if (cache !== "long") return undefined;
  if (KEEPS_PROMPTS.test(modelId)) return "24h";
  sink.warning("cache_left_out", `${modelId} keeps its prompts no longer than usual`);
  return undefined;
}
