/**
 * The part of a request that an error names.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";
import { parseJsonOrUndefined } from "../../../src/core/json/parse_json.ts";
import type { MediaBlock } from "./media.ts";

/**
 * Matches the path of a part: "messages.34.content.2.tool_result.content.0.image.source.base64: image exceeds 5 MB maximum" of
 * Anthropic and Bedrock, "Invalid 'input[101].content[1].image_url'" of OpenAI.
 */
const PATH = /\b(?:messages|input)(?:\.\w+|\[\d+\]){2,}/;

/** Returns the JSON of the part of a body whose path a message contains; `undefined` if there is none. */
export async function findNamedPart(
  message: string,
  createBody: () => Promise<string>,
): Promise<string | undefined> {
  const path = PATH.exec(message)?.[0];
  if (path === undefined) return undefined;
  const body = await createBody().catch(() => "");
  const part = findPart(parseJsonOrUndefined(body), path.match(/\w+/g) ?? []);
  return part === undefined ? undefined : JSON.stringify(part);
}

/** An error, and the part of the body that it names. */
export interface NamedPart {
  /** The message of the error. */
  readonly message: string;
  /** The JSON of the part. */
  readonly part: string | undefined;
}

/** Whether an error names a block: the part with its data, its URL, or the last part of the id of its file. */
export function isNamed({ source }: MediaBlock, { message, part = "" }: NamedPart): boolean {
  switch (source.type) {
    case "base64":
      return source.data !== "" && part.includes(source.data);
    case "url":
      return message.includes(source.url) || part.includes(source.url);
    case "provider_file":
      return message.includes(source.id.slice(source.id.lastIndexOf("/") + 1));
    case "file":
      return false;
  }
}

/**
 * Follows a path. Names that an object does not have are those of types, such as `image`; Bedrock's body has `toolResult` for
 * the `tool_result` of its errors.
 */
function findPart(body: unknown, path: readonly string[]): unknown {
  let part = body;
  for (const name of path) {
    if (Array.isArray(part)) part = part[Number(name)];
    else if (isJsonObject(part)) part = getMember(part, name);
  }
  return part;
}

function getMember(object: JsonObject, name: string): unknown {
  const camelCase = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const key = [name, camelCase].find((key) => Object.hasOwn(object, key));
  return key === undefined ? object : object[key];
}
