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

interface OpenCall {
  readonly id: string;
  readonly isSequential: boolean;
  readonly key: string | undefined;
  isWaiting: boolean;
}

/**
 * Determines which calls wait. The start of all calls of a reply is reported before the first one runs, and some then run
 * one after the other: those with the same concurrency key, and those of sequential tools.
 */
export class CallSchedule {
  readonly #findTool: (name: string) => AgentTool | undefined;
  #open: OpenCall[] = [];

  /** @param findTool Finds a tool of the agent. */
  constructor(findTool: (name: string) => AgentTool | undefined) {
    this.#findTool = findTool;
  }

  /** Adds a call. Returns whether it waits. */
  start({ id, name, arguments: args }: StartedCall): boolean {
    const tool = this.#findTool(name);
    const call = { id, isSequential: tool?.sequential ?? false, key: getKey(tool, args) };
    const isWaiting = this.#open.some((other) => isBefore(other, call));
    this.#open.push({ ...call, isWaiting });
    return isWaiting;
  }

  /** Whether a call waits. */
  isWaiting(id: string): boolean {
    return this.#open.some((call) => call.id === id && call.isWaiting);
  }

  /** Ends a call. Returns the ids of the calls that waited and do so no longer. */
  end(id: string): string[] {
    this.#open = this.#open.filter((call) => call.id !== id);
    return this.#open.flatMap((call, index) => {
      const isWaiting = this.#open.slice(0, index).some((other) => isBefore(other, call));
      const hasStarted = call.isWaiting && !isWaiting;
      call.isWaiting = isWaiting;
      return hasStarted ? [call.id] : [];
    });
  }

  /** Forgets all calls. */
  clear(): void {
    this.#open = [];
  }
}

/** Whether a call waits for an earlier one. */
function isBefore(
  earlier: Pick<OpenCall, "isSequential" | "key">,
  call: Pick<OpenCall, "isSequential" | "key">,
): boolean {
  if (earlier.isSequential || call.isSequential) return true;
  return call.key !== undefined && call.key === earlier.key;
}

/** Returns the concurrency key of a call; a key function that throws counts as no key. */
function getKey(tool: AgentTool | undefined, args: JsonObject): string | undefined {
  try {
    return tool?.concurrencyKey?.(args);
  } catch {
    return undefined;
  }
}
