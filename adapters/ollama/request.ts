/**
 * Converts a model call to a request to Ollama.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import type { StreamRequest } from "../../src/core/streams/stream.ts";
import type { CatalogEntry, ThinkingEffort } from "../catalog/catalog_entry.ts";
import { adaptContent } from "../kit/request/adapt_content.ts";
import type { ContentAbilities } from "../kit/request/content_abilities.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import { resolveStop, warnUnsupportedOptions } from "../kit/request/model_limits.ts";
import { resolveEffort } from "../kit/request/thinking.ts";
import { canChooseTool, sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { toWireMessages } from "./messages.ts";
import { toOllamaSchema } from "./tool_schema.ts";

/** Settings of the model. */
export interface OllamaModelSettings {
  /** The model's catalog entry; `undefined` if it has none. */
  readonly entry: CatalogEntry | undefined;
  /** Size of the context window in tokens. */
  readonly contextWindow: number | undefined;
}

/** Models that need an effort and ignore `think: true`. */
const EFFORT_MODELS = /gpt-oss/i;
/** Models that think by default and accept `think: false`. */
const THINKING_MODELS =
  /qwen-?[3-9]|deepseek|magistral|think|reason|cogito|glm|kimi|minimax|nemotron|exaone|gemma-?4/i;
const MAX_STOP_TEXTS = 64;

/** Content of prompts, tool results and earlier replies; there are no items that are sent back. */
const ABILITIES: ContentAbilities = { image: { types: /^image\// }, replies: {} };
const WITHOUT_MEDIA: ContentAbilities = { replies: {} };
const EFFORTS: readonly ThinkingEffort[] = ["low", "medium", "high"];

/** Creates the body; options that Ollama does not support are omitted with a warning. */
export async function createOllamaBody(
  request: StreamRequest,
  { entry, contextWindow }: OllamaModelSettings,
  sink: WarningSink,
): Promise<JsonObject> {
  const { model, context, options } = request;
  const { systemPrompt } = context;
  if (options.cache === "long") {
    const message = "Ollama has no long cache retention: the short one applies";
    sink.warning("cache_left_out", message);
  }
  const history = await adaptContent(
    request,
    entry?.images === false ? WITHOUT_MEDIA : ABILITIES,
    sink,
  );
  warnUnsupportedOptions(
    request,
    ["serverTools", "serviceTier", "verbosity", "reasoningSummary"],
    sink,
  );
  const { temperature, maxTokens, topP, seed } = options;
  const runnerOptions = {
    temperature,
    top_p: topP,
    stop: resolveStop(options, MAX_STOP_TEXTS, sink),
    seed,
    num_predict: maxTokens,
    num_ctx: contextWindow,
  };
  const isConfigured = Object.values(runnerOptions).some((value) => value !== undefined);
  const body = {
    model: model.modelId,
    stream: true,
    messages: [
      ...(systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }]),
      ...toWireMessages(history, model),
    ],
    tools: toWireTools(request, sink),
    think: resolveThinking(model, entry, sink),
    format: options.responseSchema,
    options: isConfigured ? runnerOptions : undefined,
  };
  // By default the server silently truncates a prompt that is too long; the agent needs the error.
  return mergeExtraFields(body, { truncate: false, ...options.extra }, sink);
}

function toWireTools(
  request: StreamRequest,
  sink: WarningSink,
): JsonObject[] | undefined {
  const { context: { tools }, options: { toolChoice = "auto" } } = request;
  const canChoose = canChooseTool(request, sink);
  if (tools.length === 0 || toolChoice === "none") return undefined;
  if (canChoose && toolChoice !== "auto") {
    sink.warning("tool_choice_left_out", "Ollama does not support a forced tool call");
  }
  return sortTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    function: {
      name: toWireName(name, TOOL_NAME_RULE),
      description,
      parameters: toOllamaSchema(parameters),
    },
  }));
}

/** Whether a model thinks unless the request turns it off. */
function thinksByDefault(modelId: string, entry: CatalogEntry | undefined): boolean {
  return entry ? entry.thinking.type !== "none" : THINKING_MODELS.test(modelId);
}

function resolveThinking(
  model: ModelSpec,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): boolean | ThinkingEffort | undefined {
  const { thinkingLevel, modelId } = model;
  if (thinkingLevel === "off") return thinksByDefault(modelId, entry) ? false : undefined;
  if (entry?.thinking.type === "none") {
    sink.warning("thinking_left_out", `${modelId} does not support thinking`);
    return undefined;
  }
  if (entry?.thinking.type === "effort") {
    return resolveEffort(thinkingLevel, entry.thinking.efforts);
  }
  return EFFORT_MODELS.test(modelId) ? resolveEffort(thinkingLevel, EFFORTS) : true;
}
