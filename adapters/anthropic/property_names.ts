/**
 * Names of tool parameters that Claude models reject, at Anthropic and Bedrock: "Property keys should match pattern
 * '^[a-zA-Z0-9_.-]{1,64}$'". One such name in the tools of an MCP server, such as `$top` or `filter[id]`, fails every
 * request. The API checks only the names at the root of a schema.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import { isJsonObject, type JsonObject, type JsonSchema } from "../../src/core/json.ts";
import type { ToolSpec } from "../../src/core/stream.ts";
import { toToolSchema } from "../kit/request/tool_schema.ts";
import { type NameRule, toWireName } from "../kit/request/wire_names.ts";
import { renameMembers } from "./rename_members.ts";

const PROPERTY_NAME_RULE: NameRule = { forbidden: /[^A-Za-z0-9_.-]/g, maxLength: 64 };

/** The names of parameters that a tool has, and those that requests have in their place. */
type Renames = readonly { readonly name: string; readonly wireName: string }[];

/** Returns the schema of a tool's parameters, with names that the API accepts. */
export function toClaudeSchema(parameters: JsonSchema): JsonSchema {
  const schema = toToolSchema(parameters);
  const renames = findRenames(schema);
  if (renames.length === 0) return schema;
  const wireNames = new Map(renames.map(({ name, wireName }) => [name, wireName]));
  const rename = (name: string) => wireNames.get(name) ?? name;
  const { properties, required } = schema;
  const renamed = Object.entries(Object(properties)).map(([name, property]) =>
    wireNames.has(name) ? [rename(name), describeName(name, property)] : [name, property]
  );
  return {
    ...schema,
    properties: Object.fromEntries(renamed),
    ...(Array.isArray(required) && { required: required.map(rename) }),
  };
}

/** Names the parameter in its description, since those of the tool and its other parameters may refer to it. */
function describeName(name: string, property: unknown): JsonObject {
  const schema = isJsonObject(property) ? property : {};
  const { description } = schema;
  const note = `Called ${JSON.stringify(name)} elsewhere.`;
  return { ...schema, description: description ? `${description}\n\n${note}` : note };
}

/** Returns the input of an earlier call with the names that the model has used. */
export function toClaudeInput(input: JsonObject, tool: ToolSpec | undefined): JsonObject {
  const renames = tool ? findRenames(toToolSchema(tool.parameters)) : [];
  if (renames.every(({ name }) => !Object.hasOwn(input, name))) return input;
  const wireNames = new Map(renames.map(({ name, wireName }) => [name, wireName]));
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [wireNames.get(name) ?? name, value]),
  );
}

function findRenames({ properties }: JsonSchema): Renames {
  return Object.keys(Object(properties)).flatMap((name) => {
    const wireName = toWireName(name, PROPERTY_NAME_RULE);
    return wireName === name ? [] : [{ name, wireName }];
  });
}

/**
 * Writes the inputs of the calls of one reply with the names of the tools' parameters. The input of a tool with other names
 * in requests is written when the call ends, that of any other tool at once.
 */
export class ClaudeInputWriter {
  readonly #writer: BlockWriter;
  readonly #tools: readonly ToolSpec[];
  readonly #held = new Map<number, { readonly names: ReadonlyMap<string, string>; json: string }>();

  /** Creates a writer for a reply to a request with the given tools. */
  constructor(writer: BlockWriter, tools: readonly ToolSpec[]) {
    this.#writer = writer;
    this.#tools = tools;
  }

  /** Starts the input of a call, by the index of its block. */
  start(contentIndex: number, toolName: string): void {
    const tool = this.#tools.find(({ name }) => name === toolName);
    const renames = tool ? findRenames(toToolSchema(tool.parameters)) : [];
    if (renames.length === 0) return;
    const names = new Map(renames.map(({ name, wireName }) => [wireName, name]));
    this.#held.set(contentIndex, { names, json: "" });
  }

  /** Appends the next part of an input. */
  append(contentIndex: number, json: string): void {
    const held = this.#held.get(contentIndex);
    if (held) held.json += json;
    else this.#writer.writeToolArguments(contentIndex, json);
  }

  /** Writes the rest of an input. */
  end(contentIndex: number): void {
    const held = this.#held.get(contentIndex);
    if (!held) return;
    this.#held.delete(contentIndex);
    const { names, json } = held;
    const text = renameMembers(json, (wireName) => names.get(wireName) ?? wireName);
    this.#writer.writeToolArguments(contentIndex, text);
  }

  /** Writes the rest of the inputs of calls that were cut off. */
  endAll(): void {
    for (const contentIndex of this.#held.keys()) this.end(contentIndex);
  }
}
