/**
 * Tool calls out of Gemini's function calls.
 *
 * Mostly they come whole and without an id, and two of one name are two calls. One with an id may come again with other
 * arguments, which replace the earlier ones. Vertex AI can send the arguments in pieces.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/block_writer.ts";
import { isJsonObject } from "../../src/core/json.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import { PartialArguments } from "./partial_arguments.ts";
import type { WireFunctionCall, WirePart } from "./wire.ts";

/** A call that may still change. */
interface OpenCall {
  readonly contentIndex: number;
  args: unknown;
  signature: string | undefined;
}

/** Puts the calls of one reply together. */
export class GoogleCallAssembler {
  readonly #writer: BlockWriter;
  readonly #toolName: (wireName: string) => string;
  readonly #byId = new Map<string, OpenCall>();
  #partialCall: OpenCall | null = null;
  #hasCalls = false;

  /** Makes an empty list that writes with `writer`. */
  constructor(writer: BlockWriter, toolName: (wireName: string) => string) {
    this.#writer = writer;
    this.#toolName = toolName;
  }

  /** Whether there is any call. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** Reads a call, or a piece of one. */
  append(call: WireFunctionCall, { thoughtSignature }: WirePart): void {
    const signature = textOrEmpty(thoughtSignature) || undefined;
    const isNext = textOrEmpty(call.name) !== "";
    if (!isNext && this.#partialCall === null) return;
    const open = isNext ? this.#openCall(call) : this.#partialCall ?? this.#openCall(call);
    open.signature = signature ?? open.signature;
    this.#setArguments(open, call);
    if (call.willContinue) this.#partialCall = open;
    else this.#completeCall(open, call);
  }

  /** The reply is over; a call that the token limit cut stays open. */
  end({ wasCut }: { readonly wasCut: boolean }): void {
    if (!wasCut) this.#closePartialCall();
    this.#partialCall = null;
    for (const call of this.#byId.values()) this.#close(call);
    this.#byId.clear();
  }

  #openCall({ id, name }: WireFunctionCall): OpenCall {
    this.#closePartialCall();
    const known = this.#byId.get(textOrEmpty(id));
    if (known) return known;
    this.#hasCalls = true;
    const contentIndex = this.#writer.openToolCall(
      textOrEmpty(id),
      this.#toolName(textOrEmpty(name)),
    );
    return { contentIndex, args: undefined, signature: undefined };
  }

  #setArguments(open: OpenCall, { args, partialArgs }: WireFunctionCall): void {
    if (partialArgs && !(open.args instanceof PartialArguments)) open.args = new PartialArguments();
    if (!(open.args instanceof PartialArguments)) {
      open.args = args;
      return;
    }
    for (const piece of partialArgs ?? []) open.args.add(piece);
  }

  #completeCall(open: OpenCall, { id }: WireFunctionCall): void {
    this.#partialCall = null;
    if (textOrEmpty(id) === "") this.#close(open);
    else this.#byId.set(textOrEmpty(id), open);
  }

  #closePartialCall(): void {
    if (this.#partialCall) this.#close(this.#partialCall);
    this.#partialCall = null;
  }

  #close({ contentIndex, args, signature }: OpenCall): void {
    const known = args instanceof PartialArguments || isJsonObject(args) ? args : {};
    this.#writer.writeToolArguments(contentIndex, JSON.stringify(known));
    this.#writer.closeToolCall(contentIndex, { signature });
  }
}
