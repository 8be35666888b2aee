/**
 * Checks of messages and content blocks that come from untyped code.
 *
 * @module
 */

import { describeValue } from "../errors/describe_value.ts";
import { ignoreRejections } from "../errors/refuse_promise.ts";
import { isJsonObject } from "../json/json.ts";

/** Returns what is wrong with a message, or `undefined` if its shape is valid. */
export function findMessageProblem(message: unknown): string | undefined {
  if (!isJsonObject(message)) return "a message must be an object with a role";
  const { role } = message;
  switch (role) {
    case "user":
    case "assistant":
      return findContentProblem(message["content"]);
    case "tool_result":
      return findStringProblem(message, ["toolCallId", "toolName"]) ??
        findContentProblem(message["content"]);
    case "custom":
      return findStringProblem(message, ["type"]);
    default:
      return `the role of a message must be user, assistant, tool_result or custom, not ${
        describeValue(role)
      }`;
  }
}

/**
 * Returns what is wrong with the content of a message or a tool result, or `undefined` if its shape is valid. A rejection
 * of a promise in it, which a program has forgotten to await, is ignored.
 */
export function findContentProblem(content: unknown): string | undefined {
  const problem = findListProblem(content);
  if (problem) ignoreRejections(content);
  return problem;
}

function findListProblem(content: unknown): string | undefined {
  if (typeof content === "string") {
    return 'content must be an array of blocks: write [{ type: "text", text: "…" }] instead of a string';
  }
  if (!Array.isArray(content)) {
    return `content must be an array of blocks, not ${describeValue(content)}`;
  }
  for (const block of content) {
    const problem = findBlockProblem(block);
    if (problem) return problem;
  }
  return undefined;
}

/** A block of an unknown type is valid, since a newer version may have written it. */
function findBlockProblem(block: unknown): string | undefined {
  if (!isJsonObject(block)) {
    return 'content must have blocks such as { type: "text", text: "…" }, not ' +
      describeValue(block);
  }
  switch (block["type"]) {
    case "text":
      return findStringProblem(block, ["text"]);
    case "thinking":
      return findStringProblem(block, ["thinking"]);
    case "tool_call":
      return findStringProblem(block, ["id", "name"]);
    case "image":
      return findSourceProblem(block, ["mediaType", "data"]);
    case "document":
    case "audio":
      return findStringProblem(block, ["mediaType"]) ?? findSourceProblem(block, ["data"]);
    case "extension":
      return findStringProblem(block, ["typeName"]);
    default:
      return findStringProblem(block, ["type"]);
  }
}

type Named = { readonly [name: string]: unknown };

function findSourceProblem(block: Named, base64Names: readonly string[]): string | undefined {
  const { source } = block;
  const subject = describe(block);
  if (!isJsonObject(source)) {
    return `${subject} must have a source, such as { type: "url", url: "…" }`;
  }
  switch (source["type"]) {
    case "base64":
      return findStringProblem(source, base64Names, `the source of ${subject}`);
    case "url":
      return findStringProblem(source, ["url"], `the source of ${subject}`);
    case "file":
      return findStringProblem(source, ["path"], `the source of ${subject}`);
    case "provider_file":
      return findStringProblem(source, ["provider", "id"], `the source of ${subject}`);
    default:
      return `the source of ${subject} must be of type base64, url, file or provider_file, not ${
        describeValue(source["type"])
      }`;
  }
}

function findStringProblem(
  value: Named,
  names: readonly string[],
  subject = describe(value),
): string | undefined {
  for (const name of names) {
    if (typeof value[name] === "string") continue;
    return `${subject} must have a string ${name}, not ${describeValue(value[name])}`;
  }
  return undefined;
}

function describe({ role, type }: Named): string {
  return role === undefined
    ? `a block of type ${describeValue(type)}`
    : `a message of role ${describeValue(role)}`;
}
