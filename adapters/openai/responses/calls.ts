/**
 * The tool calls of one reply of the Responses API, and the events that belong to them.
 *
 * OpenAI sends the index of the item with each event. llama.cpp omits it and sends the id of the item with the deltas, in
 * earlier versions as the id of the call; other servers send the index 0 for all items, or an item twice.
 *
 * @module
 */

import { textOrEmpty } from "../../kit/stream/wire_values.ts";
import type { WireItem } from "./wire.ts";

/** A tool call whose block has been opened. */
export interface OpenCall {
  readonly contentIndex: number;
  /** Id of the call; empty if the server sends none. */
  readonly id: string;
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
  readonly output_index?: number | null | undefined;
  readonly item_id?: string | null | undefined;
}

/** The calls of one reply, in the order of their starts. */
export class OpenCalls {
  readonly #calls: OpenCall[] = [];

  /** All calls. */
  get all(): readonly OpenCall[] {
    return this.#calls;
  }

  /** Adds a call. */
  add(
    { output_index: index }: ItemPosition,
    item: WireItem,
    contentIndex: number,
  ): OpenCall {
    const call = {
      contentIndex,
      id: textOrEmpty(item.call_id),
      index: typeof index === "number" ? index : undefined,
      itemId: textOrEmpty(item.id),
      earlyArguments: item.arguments,
      hasArguments: false,
    };
    this.#calls.push(call);
    return call;
  }

  /** Finds the call to which arguments belong. */
  find({ output_index: index, item_id: itemId }: ItemPosition): OpenCall | undefined {
    const id = textOrEmpty(itemId);
    return this.#calls.findLast((call) =>
      typeof index === "number" && call.index !== undefined
        ? call.index === index
        : id !== "" && (call.itemId === id || call.id === id)
    );
  }

  /** Finds the call of an item. Another call may have the same index. */
  findItem(position: ItemPosition, item: WireItem): OpenCall | undefined {
    const id = textOrEmpty(item.call_id);
    const known = id === "" ? undefined : this.#calls.findLast((call) => call.id === id);
    const found = known ?? this.find({ ...position, item_id: textOrEmpty(item.id) });
    return found && (id === "" || found.id === "" || found.id === id) ? found : undefined;
  }
}
