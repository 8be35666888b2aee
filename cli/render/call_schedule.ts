/**
 * The calls of a reply that wait for others.
 *
 * @module
 */

import type { AgentTool, JsonObject } from "../../mod.ts";

/** A call of a tool. */
export interface StartedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Determines which calls a call waits for. */
interface CallOrder {
  readonly isSequential: boolean;
  readonly key: string | undefined;
}

interface OpenCall extends CallOrder {
  isWaiting: boolean;
}

/**
 * Determines which calls wait. The start of all calls of a reply is reported before the first one runs, and some then run
 * one after the other: those with the same concurrency key, and those of sequential tools.
 */
export class CallSchedule {
  readonly #findTool: (name: string) => AgentTool | undefined;
  /** The calls that have not ended, in call order. */
  readonly #open = new Map<string, OpenCall>();

  /** @param findTool Finds a tool of the agent. */
  constructor(findTool: (name: string) => AgentTool | undefined) {
    this.#findTool = findTool;
  }

  /** Adds a call. Returns whether it waits. */
  start({ id, name, arguments: args }: StartedCall): boolean {
    const tool = this.#findTool(name);
    const call = { isSequential: tool?.sequential ?? false, key: getKey(tool, args) };
    const earlier = new EarlierCalls();
    for (const open of this.#open.values()) earlier.add(open);
    const isWaiting = earlier.block(call);
    this.#open.set(id, { ...call, isWaiting });
    return isWaiting;
  }

  /** Whether a call waits. */
  isWaiting(id: string): boolean {
    return this.#open.get(id)?.isWaiting ?? false;
  }

  /** Ends a call. Returns the ids of the calls that waited and do so no longer. */
  end(id: string): string[] {
    this.#open.delete(id);
    const earlier = new EarlierCalls();
    const started: string[] = [];
    for (const [openId, call] of this.#open) {
      const isWaiting = earlier.block(call);
      if (call.isWaiting && !isWaiting) started.push(openId);
      call.isWaiting = isWaiting;
      earlier.add(call);
    }
    return started;
  }

  /** Forgets all calls. */
  clear(): void {
    this.#open.clear();
  }
}

/** The calls before another one. */
class EarlierCalls {
  readonly #keys = new Set<string>();
  #isEmpty = true;
  #hasSequential = false;

  add({ isSequential, key }: CallOrder): void {
    this.#isEmpty = false;
    this.#hasSequential ||= isSequential;
    if (key !== undefined) this.#keys.add(key);
  }

  /** Whether a call waits for one of them. */
  block({ isSequential, key }: CallOrder): boolean {
    if (this.#hasSequential || (isSequential && !this.#isEmpty)) return true;
    return key !== undefined && this.#keys.has(key);
  }
}

/** Returns the concurrency key of a call; a key function that throws counts as no key. */
function getKey(tool: AgentTool | undefined, args: JsonObject): string | undefined {
  try {
    return tool?.concurrencyKey?.(args);
  } catch {
    return undefined;
  }
}
