/**
 * Assembles tool calls from Google's function calls.
 *
 * A function call is usually complete and has no id; two with the same name are two calls. One with an id may be sent
 * again in a later event, and its new arguments replace the earlier ones. Vertex AI can stream the arguments in parts.
 *
 * @module
 */

import type { BlockWriter } from "../../src/core/streams/block_writer.ts";
import type { ProviderCall } from "../kit/provider.ts";
import { ArgumentsReader } from "../kit/stream/arguments_reader.ts";
import { warnRoundedNumber } from "../kit/stream/rounded_number.ts";
import type { UnknownParts } from "../kit/stream/unknown_parts.ts";
import { readList, readText, textOrEmpty } from "../kit/stream/wire_values.ts";
import { PartialArguments } from "./partial_arguments.ts";
import type { WireFunctionCall, WirePart } from "./wire.ts";

/** A call that may still change. */
interface OpenCall {
  readonly contentIndex: number;
  readonly name: string;
  /** The last event with the call. */
  event: string;
  args: unknown;
  signature: string | undefined;
}

/** Where a call comes from. */
interface CallSource {
  /** The part of the message that has the call. */
  readonly part: WirePart;
  /** The event. */
  readonly json: string;
}

/** Assembles the calls of one reply. */
export class GoogleCallAssembler {
  readonly #writer: BlockWriter;
  readonly #toolName: (wireName: string) => string;
  readonly #unknown: UnknownParts;
  readonly #arguments = new ArgumentsReader();
  readonly #byId = new Map<string, OpenCall>();
  #partialCall: OpenCall | null = null;
  #hasCalls = false;

  constructor(
    { writer, decodeToolName }: Pick<ProviderCall, "writer" | "decodeToolName">,
    unknown: UnknownParts,
  ) {
    this.#writer = writer;
    this.#toolName = decodeToolName;
    this.#unknown = unknown;
  }

  /** Whether the reply has a call. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  /** Appends a call, or a part of one. */
  append(call: WireFunctionCall, { part, json }: CallSource): void {
    const signature = textOrEmpty(part.thoughtSignature) || undefined;
    // The parts of a streamed call after the first have no name; neither has an invalid call.
    const isNewCall = readText(call.name) !== "" || (this.#partialCall === null && call.args);
    const open = isNewCall ? this.#openCall(call, json) : this.#partialCall;
    if (open === null) {
      if (call.partialArgs) this.#unknown.reportOrphanDelta("partialArgs");
      return;
    }
    open.event = json;
    open.signature = signature ?? open.signature;
    this.#setArguments(open, call);
    this.#arguments.readNumbers(json);
    this.#partialCall = call.willContinue ? open : null;
    if (call.willContinue) return;
    const id = textOrEmpty(call.id);
    if (id === "") this.#close(open);
    else this.#byId.set(id, open);
  }

  /** Closes all calls at the end of the reply, except one that the token limit cut off. */
  end({ wasCut }: { readonly wasCut: boolean }): void {
    if (!wasCut) this.#closePartialCall();
    this.#partialCall = null;
    for (const call of this.#byId.values()) this.#close(call);
    this.#byId.clear();
  }

  #openCall({ id: wireId, name: wireName }: WireFunctionCall, event: string): OpenCall {
    this.#closePartialCall();
    const id = textOrEmpty(wireId);
    const name = this.#toolName(textOrEmpty(wireName));
    const known = this.#byId.get(id);
    if (known?.name === name && known.event !== event) return known;
    if (known) this.#close(known);
    this.#byId.delete(id);
    this.#hasCalls = true;
    const contentIndex = this.#writer.openToolCall(id, name);
    return { contentIndex, name, event, args: undefined, signature: undefined };
  }

  #setArguments(open: OpenCall, { args, partialArgs }: WireFunctionCall): void {
    if (partialArgs && !(open.args instanceof PartialArguments)) open.args = new PartialArguments();
    if (!(open.args instanceof PartialArguments)) {
      open.args = args;
      return;
    }
    for (const part of readList(partialArgs)) open.args.add(part);
  }

  #closePartialCall(): void {
    if (this.#partialCall) this.#close(this.#partialCall);
    this.#partialCall = null;
  }

  #close({ contentIndex, name, event, args, signature }: OpenCall): void {
    const text = this.#arguments.toText(args, event) || "{}";
    warnRoundedNumber({ name, args: text }, this.#writer);
    this.#writer.writeToolArguments(contentIndex, text);
    this.#writer.closeToolCall(contentIndex, { signature });
  }
}
