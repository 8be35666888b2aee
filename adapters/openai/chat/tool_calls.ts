/**
 * Assembly of tool calls from the pieces that the chat completions API sends.
 *
 * OpenAI sends id and name of each call first, then its arguments, always with the index of the call. Other servers omit
 * ids or indexes, count indexes from 1, use index 0 for every call, send names late, in pieces or repeatedly, send
 * complete calls, or send arguments as an object.
 *
 * @module
 */

import type { BlockWriter } from "../../../src/core/block_writer.ts";
import type { ProviderCall } from "../../kit/provider.ts";
import { textOrEmpty } from "../../kit/stream/wire_values.ts";
import type { WireToolCall } from "./wire.ts";

interface Call {
  id: string;
  name: string;
  /** Arguments that were received before the name. */
  earlyArguments: string;
  /** Content index of the open block, or `null` before the block is opened. */
  contentIndex: number | null;
}

/** Assembles the tool calls of one reply. */
export class ChatCallAssembler {
  readonly #writer: BlockWriter;
  readonly #decodeToolName: (wireName: string) => string;
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();

  /** Creates an assembler that writes the calls of a reply. */
  constructor({ writer, decodeToolName }: ProviderCall) {
    this.#writer = writer;
    this.#decodeToolName = decodeToolName;
  }

  /** Whether the reply has tool calls. */
  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** Adds a piece of a call. */
  append(piece: WireToolCall): void {
    const call = this.#find(piece);
    if (call.id === "") call.id = textOrEmpty(piece.id);
    const namePiece = textOrEmpty(piece.function?.name);
    // Some servers send the name in pieces, others repeat it with every piece.
    if (call.contentIndex === null && namePiece !== call.name) call.name += namePiece;
    const args = toArgumentsJson(piece.function?.arguments);
    if (args === "") return;
    // The next piece may continue the name, so only arguments open the block.
    if (call.contentIndex === null && call.name === "") call.earlyArguments += args;
    else this.#writer.writeToolArguments(this.#openCall(call), args);
  }

  /** Ends the reply: opens the blocks of all calls and closes them, except a truncated one. */
  end({ wasTruncated }: { readonly wasTruncated: boolean }): void {
    for (const call of this.#calls) this.#openCall(call);
    // The token limit truncates the last call, whose block stays open.
    const complete = wasTruncated ? this.#calls.slice(0, -1) : this.#calls;
    for (const call of complete) this.#writer.closeToolCall(this.#openCall(call));
  }

  #find({ index, id, function: calledFunction }: WireToolCall): Call {
    const hasName = Boolean(calledFunction?.name);
    if (typeof index !== "number") {
      const known = id ? this.#calls.find((call) => call.id === id) : this.#calls.at(-1);
      const isNextCall = !id && hasName && known?.contentIndex !== null;
      return known && !isNextCall ? known : this.#add();
    }
    const known = this.#byIndex.get(index);
    const isNextCall = hasName && id && known?.id && id !== known.id;
    if (known && !isNextCall) return known;
    const call = this.#add();
    this.#byIndex.set(index, call);
    return call;
  }

  #add(): Call {
    const call: Call = { id: "", name: "", earlyArguments: "", contentIndex: null };
    this.#calls.push(call);
    return call;
  }

  #openCall(call: Call): number {
    if (call.contentIndex !== null) return call.contentIndex;
    call.contentIndex = this.#writer.openToolCall(call.id, this.#decodeToolName(call.name));
    this.#writer.writeToolArguments(call.contentIndex, call.earlyArguments);
    return call.contentIndex;
  }
}

/** Returns the JSON of arguments, which some servers send as an object. */
function toArgumentsJson(args: unknown): string {
  return typeof args === "object" && args !== null ? JSON.stringify(args) : textOrEmpty(args);
}
