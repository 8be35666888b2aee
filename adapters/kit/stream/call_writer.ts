/**
 * Tool calls of a reply.
 *
 * @module
 */

import type { BlockEndOptions, BlockWriter } from "../../../src/core/streams/block_writer.ts";
import type { ToolSpec } from "../../../src/core/streams/stream.ts";
import { findRenamedProperties } from "../request/property_names.ts";
import { renameMembers } from "./rename_members.ts";
import { readText, textOrEmpty } from "./wire_values.ts";

/** The reply to which calls are written; a `ProviderCall` is one. */
export interface CallTarget {
  /** Writes the reply. */
  readonly writer: BlockWriter;
  /** Maps a tool name in the response to the name of the tool. */
  readonly decodeToolName: (wireName: string) => string;
}

/** The start of a tool call in a response, whose types are not checked. */
export interface CallStart {
  /** Id of the call; one that is no text is left out. */
  readonly id?: unknown;
  /** Name of the tool in the request; one that is no text is an error. */
  readonly name?: unknown;
}

/** Arguments that are written when their call ends. */
interface HeldArguments {
  /** Names of the tool's parameters by those in the request. */
  readonly names: ReadonlyMap<string, string>;
  json: string;
}

/** Writes the tool calls of one reply, with the tools' own names for them and for their parameters. */
export class CallWriter {
  readonly #writer: BlockWriter;
  readonly #decodeToolName: (wireName: string) => string;
  readonly #renamedTools: readonly ToolSpec[];
  readonly #held = new Map<number, HeldArguments>();
  #hasCalls = false;

  /**
   * Creates a writer. `renamedTools` are the tools whose parameters may have other names in the request, as for Claude
   * models; the arguments of those that do are written when the call ends, those of all other tools at once.
   */
  constructor({ writer, decodeToolName }: CallTarget, renamedTools: readonly ToolSpec[] = []) {
    this.#writer = writer;
    this.#decodeToolName = decodeToolName;
    this.#renamedTools = renamedTools;
  }

  /** Whether the reply has a call. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** Opens the block of a call and returns its index. */
  open({ id, name: wireName }: CallStart): number {
    const toolName = this.#decodeToolName(readText(wireName));
    this.#hasCalls = true;
    const contentIndex = this.#writer.openToolCall(textOrEmpty(id), toolName);
    const tool = this.#renamedTools.find(({ name }) => name === toolName);
    const renames = tool ? findRenamedProperties(tool.parameters) : [];
    if (renames.length === 0) return contentIndex;
    const names = new Map(renames.map(({ name, wireName }) => [wireName, name]));
    this.#held.set(contentIndex, { names, json: "" });
    return contentIndex;
  }

  /** Appends the next part of the arguments of an open call, as JSON text. */
  append(contentIndex: number, json: string): void {
    const held = this.#held.get(contentIndex);
    if (held) held.json += json;
    else this.#writer.writeToolArguments(contentIndex, json);
  }

  /** Closes a call whose arguments are complete. */
  close(contentIndex: number, options?: BlockEndOptions): void {
    this.#flush(contentIndex);
    this.#writer.closeToolCall(contentIndex, options);
  }

  /** Writes the arguments that wait for the end of their call, such as one that was cut off, which stays open. */
  flush(): void {
    for (const contentIndex of this.#held.keys()) this.#flush(contentIndex);
  }

  #flush(contentIndex: number): void {
    const held = this.#held.get(contentIndex);
    if (!held) return;
    this.#held.delete(contentIndex);
    const { names, json } = held;
    const text = renameMembers(json, (wireName) => names.get(wireName) ?? wireName);
    this.#writer.writeToolArguments(contentIndex, text);
  }
}
