/**
 * Converts a model call to a request to Google.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import type { LlmContext, StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import type { CatalogEntry, ThinkingAbility } from "../catalog/catalog_entry.ts";
import { adaptContent } from "../kit/request/adapt_content.ts";
import type { ContentAbilities } from "../kit/request/content_abilities.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveStop,
  resolveTemperature,
  resolveTopP,
  warnTierPrice,
  warnUnsupportedOptions,
  warnUnsupportedThinking,
} from "../kit/request/model_limits.ts";
import { toServerTools } from "../kit/request/server_tools.ts";
import { resolveBudget, resolveEffort } from "../kit/request/thinking.ts";
import { toToolSchema } from "../kit/request/tool_schema.ts";
import { canChooseTool, sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { toWireName } from "../kit/request/wire_names.ts";
import { toWireContents } from "./contents.ts";
import { GOOGLE_NAME_RULE } from "./names.ts";
import { GOOGLE_REPLAY } from "./replay_rules.ts";
import { toGoogleSchema } from "./schema.ts";
import type { WireContent } from "./wire.ts";

/** Minimum number of tokens reserved for the answer when a thinking budget is set. */
const MIN_ANSWER_TOKENS = 1024;

/** Thinking abilities assumed for older models that are not in the catalog, by name. */
const THINKING_BY_NAME: readonly (readonly [RegExp, ThinkingAbility])[] = [
  [/gemini-2\.5-pro/, { type: "budget", min: 128, max: 32_768 }],
  [/gemini-2\.5/, { type: "budget", min: 0, max: 24_576 }],
  [/gemini-[12]\.|gemma|learnlm/, { type: "none" }],
];
const EFFORT_THINKING: ThinkingAbility = { type: "effort", efforts: ["low", "medium", "high"] };

/** Options for `createGoogleBody()`. */
export interface GoogleBodyOptions {
  /** Catalog entry of the model, if there is one. */
  readonly entry: CatalogEntry | undefined;
  /** Whether the server is Vertex AI, which rejects some fields of the Gemini API. */
  readonly isVertex: boolean;
}

const MAX_STOP_TEXTS = 5;

/** Matches models that reject a system instruction. */
const WITHOUT_SYSTEM_INSTRUCTION = /^(?:models\/)?gemma-[1-3]/;

/** Content of prompts, tool results and earlier replies. Vertex AI accepts no text but plain text. */
const ABILITIES: ContentAbilities = {
  replies: GOOGLE_REPLAY,
  image: { types: /^image\/(?:png|jpeg|webp|heic|heif)$/, urls: /^(?:https?|gs):/i, files: true },
  document: {
    types: /^(?:application\/(?:pdf|rtf)|text\/(?:plain|rtf))$/,
    urls: /^(?:https?|gs):/i,
    urlTypes: /^(?:application\/(?:pdf|rtf)|text\/(?:plain|html|css|csv|markdown|xml|rtf))$/,
    files: true,
  },
  audio: { types: /^audio\//, urls: /^(?:https?|gs):/i, files: true },
};

const WITHOUT_MEDIA: ContentAbilities = { replies: GOOGLE_REPLAY };

/** Creates the body; options that the model does not support are omitted with a warning. */
export async function createGoogleBody(
  request: StreamRequest,
  { entry, isVertex }: GoogleBodyOptions,
  sink: WarningSink,
): Promise<JsonObject> {
  const { model, context, options } = request;
  if (options.cache === "long") {
    const message = "Google has no long cache retention: the short one applies";
    sink.warning("cache_left_out", message);
  }
  const thinking = entry?.thinking ?? defaultThinking(model);
  const isGemini3OrLater = thinking.type === "effort";
  const history = await adaptContent(
    request,
    entry?.images === false ? WITHOUT_MEDIA : ABILITIES,
    sink,
  );
  const serverTools = await createServerTools(request, { isVertex, isGemini3OrLater }, sink);
  warnUnsupportedOptions(request, isVertex ? ["verbosity", "serviceTier"] : ["verbosity"], sink);
  if (!isVertex) warnTierPrice(options, entry, sink);
  const generationConfig = {
    temperature: resolveTemperature(options, entry, sink),
    topP: resolveTopP(options, entry, sink),
    stopSequences: resolveStop(options, MAX_STOP_TEXTS, sink),
    seed: options.seed,
    maxOutputTokens: resolveMaxTokens(options, entry, sink),
    thinkingConfig: toThinkingConfig(model, thinking, options),
    ...toResponseFormat({ context, options }, isGemini3OrLater, sink),
  };
  warnUnsupportedThinking(model, { thinking }, sink);
  if (model.thinkingLevel === "off") warnUnsupportedOptions(request, ["reasoningSummary"], sink);
  const isConfigured = Object.values(generationConfig).some((value) => value !== undefined);
  const contents = toWireContents(history, {
    model,
    requiresSignatures: isGemini3OrLater,
    hasCallIds: !isVertex,
  });
  const body = {
    ...toSystemFields(request, contents),
    tools: toWireTools(context, serverTools),
    toolConfig: toToolConfig(request, serverTools.length > 0 && !isVertex, sink),
    generationConfig: isConfigured ? generationConfig : undefined,
    serviceTier: isVertex ? undefined : toServiceTier(options),
  };
  return mergeExtraFields(body, options.extra, sink);
}

/** Returns the system prompt as an instruction, or as the start of the first prompt. */
function toSystemFields(
  { model, context }: StreamRequest,
  contents: readonly WireContent[],
): { readonly systemInstruction?: JsonObject; readonly contents: readonly WireContent[] } {
  const part = { text: context.systemPrompt };
  if (part.text.trim() === "") return { contents };
  const [first, ...others] = contents;
  if (!first || !WITHOUT_SYSTEM_INSTRUCTION.test(model.modelId)) {
    return { systemInstruction: { parts: [part] }, contents };
  }
  return { contents: [{ ...first, parts: [part, ...first.parts] }, ...others] };
}

function defaultThinking({ modelId }: ModelSpec): ThinkingAbility {
  return THINKING_BY_NAME.find(([name]) => name.test(modelId))?.[1] ?? EFFORT_THINKING;
}

/** Converts the service tier; Google's default is the same as `auto`. */
function toServiceTier({ serviceTier }: StreamOptions): string | undefined {
  if (serviceTier === "auto") return undefined;
  return serviceTier === "default" ? "standard" : serviceTier;
}

async function createServerTools(
  request: StreamRequest,
  { isVertex, isGemini3OrLater }: {
    readonly isVertex: boolean;
    readonly isGemini3OrLater: boolean;
  },
  sink: WarningSink,
): Promise<readonly JsonObject[]> {
  if (!request.options.serverTools?.length) return [];
  if (request.context.tools.length > 0 && !isGemini3OrLater) {
    sink.warning(
      "server_tools_left_out",
      "The model does not support server tools together with other tools",
    );
    return [];
  }
  const { getGoogleTools } = await import("./server_tools.ts");
  return toServerTools(request, getGoogleTools({ isVertex }), sink);
}

function toWireTools(
  { tools }: LlmContext,
  serverTools: readonly JsonObject[],
): readonly JsonObject[] | undefined {
  if (tools.length === 0) return serverTools.length > 0 ? serverTools : undefined;
  const functionDeclarations = sortTools(tools).map(({ name, description, parameters }) => {
    const schema = toGoogleSchema(toToolSchema(parameters));
    return {
      name: toWireName(name, GOOGLE_NAME_RULE),
      description,
      // The API refuses an object without properties.
      ...("properties" in schema && { parameters: schema }),
    };
  });
  return [{ functionDeclarations }, ...serverTools];
}

/** Creates the tool configuration; `isMixed` is whether the request has server tools, too. */
function toToolConfig(
  request: StreamRequest,
  isMixed: boolean,
  sink: WarningSink,
): JsonObject | undefined {
  const { context: { tools }, options: { toolChoice } } = request;
  const canChoose = canChooseTool(request, sink);
  if (tools.length === 0 || (!canChoose && !isMixed)) return undefined;
  return {
    ...(toolChoice && { functionCallingConfig: toCallingConfig(toolChoice) }),
    // Required to combine both kinds of tools.
    ...(isMixed && { includeServerSideToolInvocations: true }),
  };
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
  { maxTokens = Infinity, reasoningSummary }: StreamOptions,
): JsonObject | undefined {
  const enabled = model.thinkingLevel !== "off";
  const includeThoughts = enabled ? { includeThoughts: reasoningSummary !== "off" } : {};
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
