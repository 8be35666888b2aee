/**
 * The tool calls of one reply of the Responses API, and the events that belong to them.
 *
 * OpenAI sends the index of the item with each event. llama.cpp omits it and sends the id of the item with the deltas, in
 * earlier versions as the id of the call; other servers send the index 0 for all items, the index as text, neither index
 * nor id, or an item twice.
 *
 * @module
 */

import { textOrEmpty } from "../../kit/stream/wire_values.ts";
import { readIndex } from "../server/wire_index.ts";
import type { WireItem } from "./wire.ts";

/** A tool call whose block has been opened. */
export interface OpenCall {
  readonly contentIndex: number;
  /** Id of the call; empty if the server sends none. */
  readonly id: string;
  /** Name of the tool, as the server sends it. */
  readonly name: string;
  /** Index of its item, if the server sends it. */
  readonly index: number | undefined;
  /** Id of its item; empty if the server sends none. */
  readonly itemId: string;
  /** Arguments of the item at its start, which are usually empty. */
  readonly earlyArguments: unknown;
  hasArguments: boolean;
}

/** The item to which an event belongs. */
export interface ItemPosition {
  readonly output_index?: number | string | null | undefined;
  readonly item_id?: string | null | undefined;
}

/** The calls of one reply, in the order of their starts. */
export class OpenCalls {
  readonly #calls: OpenCall[] = [];
  /** The calls by their id and that of their item. */
  readonly #byId = new Map<string, OpenCall[]>();
  /** The last call by the index of its item. */
  readonly #byIndex = new Map<number, OpenCall>();

  /** All calls. */
  get all(): readonly OpenCall[] {
    return this.#calls;
  }

  /** Adds a call. */
  add(
    position: ItemPosition,
    item: WireItem,
    contentIndex: number,
  ): OpenCall {
    const call = {
      contentIndex,
      id: textOrEmpty(item.call_id),
      name: textOrEmpty(item.name),
      index: readIndex(position.output_index),
      itemId: textOrEmpty(item.id),
      earlyArguments: item.arguments,
      hasArguments: false,
    };
    this.#calls.push(call);
    if (call.index !== undefined) this.#byIndex.set(call.index, call);
    for (const id of new Set([call.id, call.itemId])) {
      const calls = this.#byId.get(id);
      if (calls) calls.push(call);
      else if (id !== "") this.#byId.set(id, [call]);
    }
    return call;
  }

  /** Finds the call to which arguments belong; without index and id, they belong to the last call. */
  find(position: ItemPosition): OpenCall | undefined {
    const isNamed = readIndex(position.output_index) !== undefined ||
      textOrEmpty(position.item_id) !== "";
    return isNamed ? this.#findAt(position) : this.#calls.at(-1);
  }

  /** Finds the call of an item. Another call may have the same index or the same id. */
  findItem(position: ItemPosition, item: WireItem): OpenCall | undefined {
    const id = textOrEmpty(item.call_id);
    const known = this.#byId.get(id)?.findLast((call) =>
      call.id === id && !isOther(call, position, item)
    );
    const found = known ?? this.#findAt({ ...position, item_id: textOrEmpty(item.id) });
    const hasSameId = id === "" || found?.id === "" || found?.id === id;
    return found && hasSameId && !isOther(found, position, item) ? found : undefined;
  }

  #findAt(position: ItemPosition): OpenCall | undefined {
    const index = readIndex(position.output_index);
    const id = textOrEmpty(position.item_id);
    // The id is that of the item or changes with each event.
    const named = this.#byId.get(id)?.findLast((call) =>
      index === undefined || call.index === undefined || call.index === index
    );
    return named ?? (index === undefined ? undefined : this.#byIndex.get(index));
  }
}

/** Whether an item is another one than that of a call: it calls another tool, or differs in its index and its id. */
function isOther(call: OpenCall, position: ItemPosition, item: WireItem): boolean {
  const index = readIndex(position.output_index);
  const hasOtherIndex = index !== undefined && call.index !== undefined && index !== call.index;
  return differ(call.name, textOrEmpty(item.name)) ||
    (hasOtherIndex && differ(call.itemId, textOrEmpty(item.id)));
}

/** Whether two texts differ and neither is missing. */
function differ(left: string, right: string): boolean {
  return left !== "" && right !== "" && left !== right;
}
