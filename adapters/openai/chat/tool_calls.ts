/**
 * Assembly of tool calls from the pieces that the chat completions API sends.
 *
 * OpenAI sends id and name of each call first, then its arguments, always with the index of the call. Other servers
 * omit ids or indexes or both, give all calls one id, count indexes from 1, send them as text, use index 0 for every
 * call, send names late, in pieces or repeatedly, send complete calls, also after their pieces, send a new id or all
 * arguments so far with every piece, put `{}` before the arguments, or send arguments as an object.
 *
 * @module
 */

import type { ProviderCall } from "../../kit/provider.ts";
import { ArgumentsReader } from "../../kit/stream/arguments_reader.ts";
import { CallWriter } from "../../kit/stream/call_writer.ts";
import { readText, textOrEmpty, toArgumentsText } from "../../kit/stream/wire_values.ts";
import { readIndex } from "../server/wire_index.ts";
import { CallArguments } from "./call_arguments.ts";
import { toCallSignature } from "./call_signatures.ts";
import { isClaude } from "./claude.ts";
import type { WireToolCall } from "./wire.ts";

interface Call {
  /** Number of calls before it. */
  readonly order: number;
  id: string;
  name: string;
  /** Arguments that were received before the name. */
  earlyArguments: string;
  readonly args: CallArguments;
  /** Whether its pieces have different ids. */
  hasChangingId: boolean;
  /** Signature of Gemini models. */
  signature: string | undefined;
  /** Content index of the open block, or `null` before the block is opened. */
  contentIndex: number | null;
}

/** Assembles the tool calls of one reply. */
export class ChatCallAssembler {
  readonly #writer: CallWriter;
  readonly #decodeToolName: (wireName: string) => string;
  readonly #toolNames: ReadonlySet<string>;
  readonly #arguments = new ArgumentsReader();
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<number, Call>();
  /** The last call with each id. */
  readonly #byId = new Map<string, Call>();
  /** The calls whose block is not open, in order. */
  readonly #waiting = new Set<Call>();

  /** Creates an assembler that writes the calls of a reply. */
  constructor(call: ProviderCall) {
    const { model, context: { tools } } = call.request;
    this.#writer = new CallWriter(call, isClaude(model) ? tools : []);
    this.#decodeToolName = call.decodeToolName;
    this.#toolNames = new Set(tools.map(({ name }) => name));
  }

  /** Whether the reply has tool calls. */
  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** Adds the pieces of calls in one chunk; `source` is the JSON text of the chunk, for arguments that are not text. */
  append(pieces: readonly WireToolCall[], source = ""): void {
    const chunkStart = this.#calls.length;
    for (const [position, piece] of pieces.entries()) {
      // Pieces of one chunk without an id and an index belong to different calls.
      const isOther = position > 0 && readIndex(piece.index) === undefined && !piece.id;
      const call = isOther && this.#calls.length > chunkStart ? this.#add() : this.#find(piece);
      this.#appendPiece(call, piece, source);
    }
  }

  #appendPiece(call: Call, piece: WireToolCall, source: string): void {
    const id = textOrEmpty(piece.id);
    if (call.id === "" && id !== "") this.#setId(call, id);
    else if (id !== "" && id !== call.id) call.hasChangingId = true;
    call.signature = toCallSignature(piece.extra_content) ?? call.signature;
    const namePiece = readText(piece.function?.name);
    // Some servers send the name in pieces, others repeat it with every piece.
    if (call.contentIndex === null && namePiece !== call.name) call.name += namePiece;
    const wireArgs = this.#arguments.toText(piece.function?.arguments, source);
    if (wireArgs === "") return;
    const args = call.args.take(wireArgs);
    // The next piece may continue the name, so only arguments open the block.
    if (call.contentIndex !== null || call.name !== "") {
      this.#writer.append(this.#openInOrder(call), args);
    } else {
      call.earlyArguments += args;
    }
  }

  /** Ends the reply: opens the blocks of all calls and closes them, except a truncated one. */
  end({ wasTruncated }: { readonly wasTruncated: boolean }): void {
    for (const call of this.#calls) this.#writer.append(this.#openCall(call), call.args.end());
    this.#writer.flush();
    // The token limit truncates the last call, whose block stays open.
    const complete = wasTruncated ? this.#calls.slice(0, -1) : this.#calls;
    for (const call of complete) {
      this.#writer.close(this.#openCall(call), { signature: call.signature });
    }
  }

  #setId(call: Call, id: string): void {
    call.id = id;
    const known = this.#byId.get(id);
    if (known === undefined || known.order < call.order) this.#byId.set(id, call);
  }

  #find(piece: WireToolCall): Call {
    const { id } = piece;
    const index = readIndex(piece.index);
    if (index === undefined) {
      const known = id ? this.#byId.get(id) : this.#calls.at(-1);
      return known && !this.#isNextCall(piece, known) ? known : this.#add();
    }
    const known = this.#byIndex.get(index);
    if (known && !this.#isNextCall(piece, known)) return known;
    const call = this.#add();
    this.#byIndex.set(index, call);
    return call;
  }

  /** Whether a piece starts another call than `known`, although it has the same index or none. */
  #isNextCall({ id, function: calledFunction }: WireToolCall, known: Call): boolean {
    const name = textOrEmpty(calledFunction?.name);
    if (name === "") return false;
    const hasOtherId = Boolean(id && known.id) && id !== known.id;
    const hasOtherTool = name !== known.name && this.#isTool(known.name) && this.#isTool(name);
    const args = toArgumentsText(calledFunction?.arguments).trimStart();
    // Some servers give all calls one id.
    if (id && id === known.id) return hasOtherTool || known.args.isFollowedBy(args);
    if (known.contentIndex === null) return hasOtherId || hasOtherTool;
    if (name !== known.name) return true;
    // A server that repeats the name in every piece ends the arguments of a call with "}" and begins the next with "{". For
    // a required tool, some versions of vLLM send a new id with every piece, too.
    const startsCall = args === "" ? hasOtherId && !known.hasChangingId : args.startsWith("{");
    return startsCall && known.args.canEndBefore(args);
  }

  #isTool(wireName: string): boolean {
    return this.#toolNames.has(this.#decodeToolName(wireName));
  }

  #add(): Call {
    const call: Call = {
      order: this.#calls.length,
      id: "",
      name: "",
      earlyArguments: "",
      args: new CallArguments(),
      hasChangingId: false,
      signature: undefined,
      contentIndex: null,
    };
    this.#calls.push(call);
    this.#waiting.add(call);
    return call;
  }

  /** Opens the block of a call after those of earlier calls without arguments. */
  #openInOrder(call: Call): number {
    if (call.contentIndex !== null) return call.contentIndex;
    for (const other of this.#waiting) {
      if (other === call) break;
      if (other.name !== "") this.#openCall(other);
    }
    return this.#openCall(call);
  }

  #openCall(call: Call): number {
    if (call.contentIndex !== null) return call.contentIndex;
    this.#waiting.delete(call);
    call.contentIndex = this.#writer.open(call);
    this.#writer.append(call.contentIndex, call.earlyArguments);
    return call.contentIndex;
  }
}
