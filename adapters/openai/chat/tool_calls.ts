/**
 * Tool calls out of the pieces in which chat completions send them.
 *
 * OpenAI sends each call's id and name first, then its arguments, all under the call's index. Other servers leave out
 * ids or indexes, begin at 1, give every call the index 0, send names late, in pieces or again and again, send whole
 * calls at once, or arguments as an object.
 *
 * @module
 */

import type { BlockWriter } from "../../../src/core/block_writer.ts";
import { textOrEmpty } from "../../kit/stream/wire_values.ts";
import type { WireToolCall } from "./wire.ts";

interface Call {
  id: string;
  name: string;
  /** Arguments that came before the name. */
  earlyArguments: string;
  /** Set when the call has been begun. */
  contentIndex: number | null;
}

/** Options of {@linkcode ChatCallAssembler}. */
export interface ChatCallsOptions {
  /** The tool's own name, for one on the wire. */
  readonly decodeToolName: (wireName: string) => string;
  /** The call's own id, for one on the wire. */
  readonly decodeCallId?: (wireId: string) => string;
}

/** Puts the calls of one reply together. */
export class ChatCallAssembler {
  readonly #writer: BlockWriter;
  readonly #options: ChatCallsOptions;
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();

  /** Makes an empty list that writes with `writer`. */
  constructor(writer: BlockWriter, options: ChatCallsOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  /** Whether there is any call. */
  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** Reads a piece of a call. */
  append(piece: WireToolCall): void {
    const call = this.#find(piece);
    if (call.id === "") call.id = textOrEmpty(piece.id);
    call.name = mergeNamePiece(call, textOrEmpty(piece.function?.name));
    const args = toArgumentsJson(piece.function?.arguments);
    if (args === "") return;
    // The name may go on in the next piece, so that a call begins with its first argument.
    if (call.contentIndex === null && call.name === "") call.earlyArguments += args;
    else this.#writer.writeToolArguments(this.#openCall(call), args);
  }

  /** The reply is over: every call has begun, and all but a cut one are complete. */
  end({ wasTruncated: wasCut }: { readonly wasTruncated: boolean }): void {
    for (const call of this.#calls) this.#openCall(call);
    // What the token limit cut is what was being written: the last call. Its block stays open.
    const complete = wasCut ? this.#calls.slice(0, -1) : this.#calls;
    for (const call of complete) this.#writer.closeToolCall(this.#openCall(call));
  }

  #find({ index, id, function: called }: WireToolCall): Call {
    const hasName = Boolean(called?.name);
    if (typeof index !== "number") {
      const known = id ? this.#calls.find((call) => call.id === id) : this.#calls.at(-1);
      const isNext = !id && hasName && known?.contentIndex !== null;
      return known && !isNext ? known : this.#add();
    }
    const known = this.#byIndex.get(index);
    const isNext = hasName && id && known?.id && id !== known.id;
    if (known && !isNext) return known;
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
    const { decodeToolName: toolName, decodeCallId: callId = (id) => id } = this.#options;
    call.contentIndex = this.#writer.openToolCall(callId(call.id), toolName(call.name));
    this.#writer.writeToolArguments(call.contentIndex, call.earlyArguments);
    return call.contentIndex;
  }
}

/** A name may come in pieces, or whole with every piece. */
function mergeNamePiece({ name, contentIndex }: Call, piece: string): string {
  return contentIndex !== null || piece === name ? name : name + piece;
}

/** Some servers send arguments as an object. */
function toArgumentsJson(args: unknown): string {
  return typeof args === "object" && args !== null ? JSON.stringify(args) : textOrEmpty(args);
}
