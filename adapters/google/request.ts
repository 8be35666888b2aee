/**
 * A model call becomes a request to Gemini.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import type { LlmContext, StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import type { CatalogEntry, ThinkingAbility } from "../catalog/catalog_entry.ts";
import { withoutImages } from "../kit/request/history.ts";
import { withExtra } from "../kit/request/json_body.ts";
import { maxTokensOf, temperatureOf, warnOfThinking } from "../kit/request/model_limits.ts";
import { budgetOf, effortOf } from "../kit/request/thinking.ts";
import { sortedTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { wireName } from "../kit/request/wire_names.ts";
import { wireContents } from "./contents.ts";
import { GOOGLE_NAME_RULE } from "./names.ts";
import { googleSchema } from "./schema.ts";

/** Fewest tokens that are left for the answer when there is a budget for thinking. */
const ANSWER_TOKENS = 1024;

/** How a model that the catalog does not know is supposed to think, by its name. */
const SUPPOSED: readonly (readonly [RegExp, ThinkingAbility])[] = [
  [/gemini-2\.5-pro/, { type: "budget", min: 128, max: 32_768 }],
  [/gemini-2\.5/, { type: "budget", min: 0, max: 24_576 }],
  [/gemini-[12]\.|gemma|learnlm/, { type: "none" }],
];
const BY_LEVEL: ThinkingAbility = { type: "effort", efforts: ["low", "medium", "high"] };

/** Writes the body; whatever the model cannot take is left out with a warning. */
export function googleBody(
  { model, context, options }: StreamRequest,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject {
  if (options.cache === "long") {
    sink.warning("cache_left_out", "Gemini keeps its prompts no longer than usual");
  }
  const thinking = entry?.thinking ?? supposedThinking(model);
  const isSigned = thinking.type === "effort";
  const history = entry?.images === false
    ? withoutImages(context.messages, sink)
    : context.messages;
  const { generationConfig: own, ...extra } = options.extra ?? {};
  const generation = {
    temperature: temperatureOf(options, entry, sink),
    maxOutputTokens: maxTokensOf(options, entry, sink),
    thinkingConfig: thinkingConfigOf(model, thinking, options),
    ...replyFormatOf({ context, options }, isSigned, sink),
  };
  warnOfThinking(model, { thinking }, sink);
  const generationConfig = withExtra(generation, isJsonObject(own) ? own : undefined, sink);
  const body = {
    systemInstruction: systemOf(context),
    contents: wireContents(history, { model, isSigned }),
    tools: toolsOf(context),
    toolConfig: toolConfigOf(context, options),
    generationConfig: Object.keys(generationConfig).length > 0 ? generationConfig : undefined,
  };
  return withExtra(body, extra, sink);
}

function supposedThinking({ modelId }: ModelSpec): ThinkingAbility {
  return SUPPOSED.find(([name]) => name.test(modelId))?.[1] ?? BY_LEVEL;
}

function systemOf({ systemPrompt }: LlmContext): JsonObject | undefined {
  return systemPrompt.trim() === "" ? undefined : { parts: [{ text: systemPrompt }] };
}

function toolsOf({ tools }: LlmContext): JsonObject[] | undefined {
  if (tools.length === 0) return undefined;
  const functionDeclarations = sortedTools(tools).map(({ name, description, parameters }) => {
    const schema = googleSchema({ type: "object", ...parameters });
    return {
      name: wireName(name, GOOGLE_NAME_RULE),
      description,
      // An object without properties is refused.
      ...("properties" in schema && { parameters: schema }),
    };
  });
  return [{ functionDeclarations }];
}

function toolConfigOf(
  { tools }: LlmContext,
  { toolChoice }: StreamOptions,
): JsonObject | undefined {
  if (toolChoice === undefined || tools.length === 0) return undefined;
  return { functionCallingConfig: callingConfigOf(toolChoice) };
}

function callingConfigOf(toolChoice: NonNullable<StreamOptions["toolChoice"]>): JsonObject {
  if (toolChoice === "auto") return { mode: "AUTO" };
  if (toolChoice === "none") return { mode: "NONE" };
  if (toolChoice === "required") return { mode: "ANY" };
  return { mode: "ANY", allowedFunctionNames: [wireName(toolChoice.name, GOOGLE_NAME_RULE)] };
}

function thinkingConfigOf(
  model: ModelSpec,
  thinking: ThinkingAbility,
  { maxTokens = Infinity }: StreamOptions,
): JsonObject | undefined {
  const isOn = model.thinkingLevel !== "off";
  const includeThoughts = isOn ? { includeThoughts: true } : {};
  switch (thinking.type) {
    case "none":
      return undefined;
    case "budget": {
      const { min } = thinking;
      const max = Math.min(thinking.max, maxTokens - ANSWER_TOKENS);
      return { ...includeThoughts, thinkingBudget: isOn ? budgetOf(model, { min, max }) : min };
    }
    case "effort": {
      // Of a model that the catalog does not know, nothing is asked that the caller does not ask.
      if (!isOn && thinking.off !== "never") return undefined;
      const level = effortOf(model.thinkingLevel, thinking.efforts);
      return level && { ...includeThoughts, thinkingLevel: level.toUpperCase() };
    }
  }
}

/** Older models take either tools or a schema for the reply. */
function replyFormatOf(
  { context, options }: Pick<StreamRequest, "context" | "options">,
  takesBoth: boolean,
  sink: WarningSink,
): JsonObject | undefined {
  const { responseSchema } = options;
  if (responseSchema === undefined) return undefined;
  if (context.tools.length === 0 || takesBoth) {
    return { responseMimeType: "application/json", responseSchema: googleSchema(responseSchema) };
  }
  sink.warning(
    "response_schema_left_out",
    "The model cannot be held to a JSON Schema while it has tools",
  );
  return undefined;
}
