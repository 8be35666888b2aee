/**
 * The parts of tests of durable engines: gates that hold steps, and conditions.
 *
 * @module
 */

import type { DurableSteps, RunMessage } from "../core/durable/durable_steps.ts";
import type { UserMessage } from "../core/messages/message.ts";
import { createDeferred, type Deferred } from "../core/ports/deferred.ts";

/** Returns the text of a message. */
export function readText(message: RunMessage): string {
  if (message.type !== "steer" && message.type !== "follow_up") return message.type;
  const { content } = message.message as UserMessage;
  return content.map((block) => block.type === "text" ? block.text : block.type).join();
}

/** Promises by name, which a test resolves. */
export interface Gates {
  /** Returns the promise of a name, with its functions. */
  get(name: string | number): Deferred<void>;
  /** Resolves the promise of a name. */
  open(name: string | number): void;
}

/** Creates gates. */
export function createGates(): Gates {
  const gates = new Map<string | number, Deferred<void>>();
  const get = (name: string | number): Deferred<void> => {
    const gate = gates.get(name) ?? createDeferred<void>();
    gates.set(name, gate);
    return gate;
  };
  return { get, open: (name: string | number) => get(name).resolve() };
}

/** Time limit of a condition, in milliseconds. */
const LIMIT_MS = 30_000;

/** Waits until a condition is true. */
export async function until(isTrue: () => boolean): Promise<void> {
  const start = performance.now();
  while (!isTrue()) {
    if (performance.now() - start > LIMIT_MS) throw new Error("The condition did not become true");
    await pause(5);
  }
}

/** Resolves when an engine has had time for what cannot be observed: the record of a concurrent step. */
export async function untilStored(): Promise<void> {
  await pause(300);
}

/** Waits until that many messages have arrived that the next end of a step delivers. */
export async function untilArrived(getSteps: () => DurableSteps, count: number): Promise<void> {
  // The steps that engines pass to a workflow have it; it is different in every replay, so that it is not public.
  const getArrived = () => (getSteps() as { readonly arrived?: readonly unknown[] }).arrived;
  await until(() => getArrived()?.length === count);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
