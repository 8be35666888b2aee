/**
 * Tool calls of a reply of the Responses API.
 *
 * @module
 */

import type { ProviderCall } from "../../kit/provider.ts";
import { ArgumentsReader } from "../../kit/stream/arguments_reader.ts";
import { CallWriter } from "../../kit/stream/call_writer.ts";
import type { UnknownParts } from "../../kit/stream/unknown_parts.ts";
import { readObject, textOrEmpty } from "../../kit/stream/wire_values.ts";
import { isClaude } from "../chat/claude.ts";
import { type ItemPosition, type OpenCall, OpenCalls } from "./calls.ts";
import type { WireItem } from "./wire.ts";

/** Writes the calls of one reply. In all methods, `source` is the JSON text of the event with the arguments. */
export class ReplyCalls {
  readonly #unknown: UnknownParts;
  readonly #writer: CallWriter;
  readonly #arguments = new ArgumentsReader();
  readonly #calls = new OpenCalls();
  /** Positions of arguments without a call; the end of its item repeats them. */
  readonly #orphanArguments: ItemPosition[] = [];
  /** The last call, if its item has ended without arguments. */
  #endedCall: OpenCall | undefined;
  /** Calls whose item has ended without arguments, before another item; the last event may have their arguments. */
  readonly #emptyCalls: OpenCall[] = [];

  /** Creates the calls of the reply to a model call. */
  constructor(call: ProviderCall, unknown: UnknownParts) {
    const { model, context } = call.request;
    this.#unknown = unknown;
    this.#writer = new CallWriter(call, isClaude(model) ? context.tools : []);
  }

  /** Whether the reply has a call. */
  get hasCalls(): boolean {
    return this.#writer.hasCalls;
  }

  /** Opens the call of an item, unless it is open: some servers send the start of an item twice. */
  open(position: ItemPosition, item: WireItem, source: string): OpenCall {
    const known = this.#calls.findItem(position, item);
    if (known) return known;
    const contentIndex = this.#writer.open({ id: item.call_id, name: item.name });
    const args = this.#arguments.toText(item.arguments, source);
    return this.#calls.add(position, { ...item, arguments: args }, contentIndex);
  }

  /** Whether the call of an item is open. */
  has(position: ItemPosition, item: WireItem): boolean {
    return this.#calls.findItem(position, item) !== undefined;
  }

  /** Appends to the arguments of a call. */
  append(position: ItemPosition, delta: string): void {
    if (delta === "") return;
    const call = this.#calls.find(position);
    if (call) this.#append(call, delta);
    else this.#addOrphan(position);
  }

  /** Writes the complete arguments of a call without deltas. */
  complete(position: ItemPosition, args: unknown, source: string): void {
    const call = this.#calls.find(position);
    if (call) this.#complete(call, args, source);
    else this.append(position, this.#arguments.toText(args, source));
  }

  /** Handles the end of the item of a call. */
  close(position: ItemPosition, item: WireItem, source: string): void {
    const call = this.open(position, item, source);
    this.#complete(call, item.arguments, source);
    // The token limit truncates a call, whose block stays open.
    if (item.status === "incomplete") return;
    // Some servers end the item of a call that was cut off before its arguments like that of a complete one.
    if (call.hasArguments) this.#writer.close(call.contentIndex);
    else this.#endedCall = call;
  }

  /** Handles another item. A call without arguments before it is complete; that of the last one the stop reason decides. */
  startItem(): void {
    if (this.#endedCall) this.#emptyCalls.push(this.#endedCall);
    this.#endedCall = undefined;
  }

  /** Finds the calls that no event contained. Some servers send other ids at the end, so that no call is another one. */
  findMissed(output: readonly WireItem[]): ReadonlySet<WireItem> {
    const items = output.filter((item) => readObject(item)?.type === "function_call");
    const itemIds = new Set(items.map(({ call_id }) => call_id));
    const ids = new Set(this.#calls.all.map(({ id }) => id));
    const hasSameIds = [...ids].every((id) => id !== "" && itemIds.has(id));
    return new Set(hasSameIds ? items.filter((item) => !ids.has(textOrEmpty(item.call_id))) : []);
  }

  /** Writes the arguments of calls whose item has not ended, which the items at the end may have. */
  end(output: readonly WireItem[], source: string): void {
    const calls = this.#calls.all.filter(({ hasArguments }) => !hasArguments);
    const findItem = calls.length > 0 ? createItemFinder(output) : () => undefined;
    for (const call of calls) {
      this.#complete(call, call.earlyArguments, source);
      this.#complete(call, findItem(call)?.arguments, source);
    }
    for (const { contentIndex } of this.#emptyCalls) this.#writer.close(contentIndex);
    this.#writer.flush();
  }

  /** Reports arguments that belong to no call. */
  reportOrphans(): void {
    for (const position of this.#orphanArguments) {
      if (!this.#calls.find(position)) this.#unknown.reportOrphanDelta("function_call_arguments");
    }
  }

  #append(call: OpenCall, args: string): void {
    if (args === "") return;
    call.hasArguments = true;
    this.#writer.append(call.contentIndex, args);
  }

  #complete(call: OpenCall, args: unknown, source: string): void {
    if (!call.hasArguments) this.#append(call, this.#arguments.toText(args, source));
  }

  #addOrphan({ output_index, item_id }: ItemPosition): void {
    const last = this.#orphanArguments.at(-1);
    if (last && last.output_index === output_index && last.item_id === item_id) return;
    this.#orphanArguments.push({ output_index, item_id });
  }
}

/** Creates a function that finds the item of a call among those of the last event: by id and name, else by its index. */
function createItemFinder(
  output: readonly WireItem[],
): (call: OpenCall) => WireItem | undefined {
  const itemsByCall = indexByCall(output);
  return (call) => {
    const { [call.index ?? -1]: atIndex } = output;
    if (belongsTo(atIndex, call)) return atIndex;
    return itemsByCall.get(toCallKey(call.id, call.name)) ?? atIndex;
  };
}

/** Whether an item is the end of a call, by its id and name. */
function belongsTo(item: WireItem | undefined, { id, name }: OpenCall): boolean {
  const found = readObject(item);
  return id !== "" && found?.call_id === id && found.name === name;
}

/** Returns the first item of each call that has an id. */
function indexByCall(output: readonly WireItem[]): ReadonlyMap<string, WireItem> {
  const items = new Map<string, WireItem>();
  for (const item of output) {
    const { call_id: id, name } = readObject(item) ?? {};
    if (typeof id !== "string" || typeof name !== "string" || id === "") continue;
    const key = toCallKey(id, name);
    if (!items.has(key)) items.set(key, item);
  }
  return items;
}

function toCallKey(id: string, name: string): string {
  return JSON.stringify([id, name]);
}
