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
import { textOf } from "../kit/stream/wire_values.ts";
import { PartialArguments } from "./partial_arguments.ts";
import type { WireFunctionCall, WirePart } from "./wire.ts";

/** A call that may still change. */
interface OpenCall {
  readonly contentIndex: number;
  args: unknown;
  signature: string | undefined;
}

/** Puts the calls of one reply together. */
export class GoogleCalls {
  readonly #writer: BlockWriter;
  readonly #toolName: (wireName: string) => string;
  readonly #byId = new Map<string, OpenCall>();
  #inPieces: OpenCall | null = null;
  #any = false;

  /** Makes an empty list that writes with `writer`. */
  constructor(writer: BlockWriter, toolName: (wireName: string) => string) {
    this.#writer = writer;
    this.#toolName = toolName;
  }

  /** Whether there is any call. */
  get any(): boolean {
    return this.#any;
  }

  /** Reads a call, or a piece of one. */
  append(call: WireFunctionCall, { thoughtSignature }: WirePart): void {
    const signature = textOf(thoughtSignature) || undefined;
    const isNext = textOf(call.name) !== "";
    if (!isNext && this.#inPieces === null) return;
    const open = isNext ? this.#begin(call) : this.#inPieces ?? this.#begin(call);
    open.signature = signature ?? open.signature;
    this.#fill(open, call);
    if (call.willContinue) this.#inPieces = open;
    else this.#complete(open, call);
  }

  /** The reply is over; a call that the token limit cut stays open. */
  end({ wasCut }: { readonly wasCut: boolean }): void {
    if (!wasCut) this.#closePieces();
    this.#inPieces = null;
    for (const call of this.#byId.values()) this.#close(call);
    this.#byId.clear();
  }

  #begin({ id, name }: WireFunctionCall): OpenCall {
    this.#closePieces();
    const known = this.#byId.get(textOf(id));
    if (known) return known;
    this.#any = true;
    const contentIndex = this.#writer.openToolCall(textOf(id), this.#toolName(textOf(name)));
    return { contentIndex, args: undefined, signature: undefined };
  }

  #fill(open: OpenCall, { args, partialArgs }: WireFunctionCall): void {
    if (partialArgs && !(open.args instanceof PartialArguments)) open.args = new PartialArguments();
    if (!(open.args instanceof PartialArguments)) {
      open.args = args;
      return;
    }
    for (const piece of partialArgs ?? []) open.args.add(piece);
  }

  #complete(open: OpenCall, { id }: WireFunctionCall): void {
    this.#inPieces = null;
    if (textOf(id) === "") this.#close(open);
    else this.#byId.set(textOf(id), open);
  }

  #closePieces(): void {
    if (this.#inPieces) this.#close(this.#inPieces);
    this.#inPieces = null;
  }

  #close({ contentIndex, args, signature }: OpenCall): void {
    const known = args instanceof PartialArguments || isJsonObject(args) ? args : {};
    this.#writer.toolArguments(contentIndex, JSON.stringify(known));
    this.#writer.closeToolCall(contentIndex, { signature });
  }
}
