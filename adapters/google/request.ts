/**
 * Converts a model call to a request to Google.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import type { LlmContext, StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import type { CatalogEntry, ThinkingAbility } from "../catalog/catalog_entry.ts";
import { withoutImages } from "../kit/request/history.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveTemperature,
  warnUnsupportedThinking,
} from "../kit/request/model_limits.ts";
import { resolveBudget, resolveEffort } from "../kit/request/thinking.ts";
import { sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { toWireName } from "../kit/request/wire_names.ts";
import { toWireContents } from "./contents.ts";
import { GOOGLE_NAME_RULE } from "./names.ts";
import { toGoogleSchema } from "./schema.ts";

/** Minimum number of tokens reserved for the answer when a thinking budget is set. */
const MIN_ANSWER_TOKENS = 1024;

/** Thinking abilities assumed for older models that are not in the catalog, by name. */
const THINKING_BY_NAME: readonly (readonly [RegExp, ThinkingAbility])[] = [
  [/gemini-2\.5-pro/, { type: "budget", min: 128, max: 32_768 }],
  [/gemini-2\.5/, { type: "budget", min: 0, max: 24_576 }],
  [/gemini-[12]\.|gemma|learnlm/, { type: "none" }],
];
const EFFORT_THINKING: ThinkingAbility = { type: "effort", efforts: ["low", "medium", "high"] };

/** Creates the body; options that the model does not support are omitted with a warning. */
export function createGoogleBody(
  { model, context, options }: StreamRequest,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject {
  if (options.cache === "long") {
    const message = "Google has no long cache retention: the short one applies";
    sink.warning("cache_left_out", message);
  }
  const thinking = entry?.thinking ?? defaultThinking(model);
  const isGemini3OrLater = thinking.type === "effort";
  const history = entry?.images === false
    ? withoutImages(context.messages, sink)
    : context.messages;
  const { generationConfig: own, ...extra } = options.extra ?? {};
  const generation = {
    temperature: resolveTemperature(options, entry, sink),
    maxOutputTokens: resolveMaxTokens(options, entry, sink),
    thinkingConfig: toThinkingConfig(model, thinking, options),
    ...toResponseFormat({ context, options }, isGemini3OrLater, sink),
  };
  warnUnsupportedThinking(model, { thinking }, sink);
  const generationConfig = mergeExtraFields(generation, isJsonObject(own) ? own : undefined, sink);
  const body = {
    systemInstruction: context.systemPrompt.trim() === ""
      ? undefined
      : { parts: [{ text: context.systemPrompt }] },
    contents: toWireContents(history, { model, requiresSignatures: isGemini3OrLater }),
    tools: toWireTools(context),
    toolConfig: toToolConfig(context, options),
    generationConfig: Object.keys(generationConfig).length > 0 ? generationConfig : undefined,
  };
  return mergeExtraFields(body, extra, sink);
}

function defaultThinking({ modelId }: ModelSpec): ThinkingAbility {
  return THINKING_BY_NAME.find(([name]) => name.test(modelId))?.[1] ?? EFFORT_THINKING;
}

function toWireTools({ tools }: LlmContext): JsonObject[] | undefined {
  if (tools.length === 0) return undefined;
  const functionDeclarations = sortTools(tools).map(({ name, description, parameters }) => {
    const schema = toGoogleSchema({ type: "object", ...parameters });
    return {
      name: toWireName(name, GOOGLE_NAME_RULE),
      description,
      // The API refuses an object without properties.
      ...("properties" in schema && { parameters: schema }),
    };
  });
  return [{ functionDeclarations }];
}

function toToolConfig(
  { tools }: LlmContext,
  { toolChoice }: StreamOptions,
): JsonObject | undefined {
  if (toolChoice === undefined || tools.length === 0) return undefined;
  return { functionCallingConfig: toCallingConfig(toolChoice) };
}

function toCallingConfig(toolChoice: NonNullable<StreamOptions["toolChoice"]>): JsonObject {
  if (toolChoice === "auto") return { mode: "AUTO" };
  if (toolChoice === "none") return { mode: "NONE" };
  if (toolChoice === "required") return { mode: "ANY" };
  return { mode: "ANY", allowedFunctionNames: [toWireName(toolChoice.name, GOOGLE_NAME_RULE)] };
}

function toThinkingConfig(
  model: ModelSpec,
  thinking: ThinkingAbility,
  { maxTokens = Infinity }: StreamOptions,
): JsonObject | undefined {
  const enabled = model.thinkingLevel !== "off";
  const includeThoughts = enabled ? { includeThoughts: true } : {};
  switch (thinking.type) {
    case "none":
      return undefined;
    case "budget": {
      const { min } = thinking;
      const max = Math.min(thinking.max, maxTokens - MIN_ANSWER_TOKENS);
      return {
        ...includeThoughts,
        thinkingBudget: enabled ? resolveBudget(model, { min, max }) : min,
      };
    }
    case "effort": {
      // Only a model that is known to think always gets its lowest level; others keep their default.
      if (!enabled && thinking.off !== "never") return undefined;
      const level = resolveEffort(model.thinkingLevel, thinking.efforts);
      return level && { ...includeThoughts, thinkingLevel: level.toUpperCase() };
    }
  }
}

/** Adds the response schema; models before Gemini 3 cannot combine it with tools. */
function toResponseFormat(
  { context, options }: Pick<StreamRequest, "context" | "options">,
  supportsTools: boolean,
  sink: WarningSink,
): JsonObject | undefined {
  const { responseSchema } = options;
  if (responseSchema === undefined) return undefined;
  if (context.tools.length === 0 || supportsTools) {
    return { responseMimeType: "application/json", responseSchema: toGoogleSchema(responseSchema) };
  }
  sink.warning(
    "response_schema_left_out",
    "The model does not support a response schema together with tools",
  );
  return undefined;
}
