/**
 * The part of a request that providers look up in their prompt caches.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";

/** The parts of a request in the order in which a provider caches them, each as JSON. */
export interface CachedParts {
  /** The parts: tools, system prompt, then each block of the conversation. */
  readonly parts: readonly string[];
  /** Number of parts up to the last cache mark; all of them for a provider without marks. */
  readonly marked: number;
}

/** Splits the body of a request to any of the providers. Cache marks are not part of the cached content. */
export function splitCachedParts(body: JsonObject): CachedParts {
  const context = isJsonObject(body["context"]) ? body["context"] : body;
  const settings = [
    context["tools"] ?? omitMarks(context["toolConfig"]),
    context["system"] ?? context["systemInstruction"] ?? context["systemPrompt"] ??
      context["instructions"],
    // Anthropic caches messages for one setting of thinking and of the tool choice.
    [context["thinking"], context["tool_choice"], context["toolConfig"]],
  ];
  const conversation = context["messages"] ?? context["input"] ?? context["contents"];
  if (!Array.isArray(conversation)) throw new Error("The request has no conversation");
  const blocks = conversation.flatMap(toBlocks);
  const all = [...settings, ...blocks];
  const lastMark = all.findLastIndex(isMarked);
  const toParts = (values: readonly unknown[]) =>
    values.map((value) => JSON.stringify(omitMarks(value)) ?? "").filter((part) => part !== "");
  const marked = lastMark < 0 ? all : all.slice(0, lastMark + 1);
  return { parts: toParts(all), marked: toParts(marked).length };
}

/** Returns the blocks of a message, each with its role; a message without blocks is one block. */
function toBlocks(message: unknown): unknown[] {
  if (!isJsonObject(message)) return [message];
  const { content, parts, ...others } = message;
  const blocks = content ?? parts;
  return Array.isArray(blocks) ? blocks.map((block) => ({ ...others, block })) : [message];
}

/** Whether a block has a cache mark, or is one. */
function isMarked(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const block = isJsonObject(value["block"]) ? value["block"] : value;
  return "cache_control" in block || "cachePoint" in block;
}

function omitMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isMark(item)).map(omitMarks);
  if (!isJsonObject(value)) return value;
  if (isMark(value["block"])) return undefined;
  // Mistral continues a reply with the mark `prefix`, which is not part of it either.
  const { cache_control: _mark, prefix: _prefix, ...others } = value;
  return Object.fromEntries(
    Object.entries(others).map(([name, member]) => [name, omitMarks(member)]),
  );
}

function isMark(value: unknown): boolean {
  return isJsonObject(value) && "cachePoint" in value;
}
