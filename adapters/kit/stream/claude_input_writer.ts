/**
 * Inputs of the tool calls of Claude models.
 *
 * @module
 */

import type { BlockWriter } from "../../../src/core/block_writer.ts";
import type { ToolSpec } from "../../../src/core/stream.ts";
import { findRenamedProperties } from "../request/property_names.ts";
import { renameMembers } from "./rename_members.ts";

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
    const renames = tool ? findRenamedProperties(tool.parameters) : [];
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
