/**
 * Keeps the chain of active functions across `await`, for sources wrapped by `traceFunctions()`.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** A call of a traced function. */
interface Frame {
  name: string;
  caller: Frame | undefined;
  /** Whether the function has not returned; a returned promise keeps it active until it settles. */
  isActive: boolean;
}

/** State of a frame when the chain is read. */
export type FrameState = Pick<Frame, "name" | "isActive">;

const current = new AsyncLocalStorage<Frame>();

/** Returns the callers of the current code, outermost first. */
export function getCallChain(): FrameState[] {
  const chain: FrameState[] = [];
  for (let frame = current.getStore(); frame; frame = frame.caller) {
    chain.unshift({ name: frame.name, isActive: frame.isActive });
  }
  return chain;
}

/** Runs the body of a function as a call of that name. */
export function trace<T>(name: string, body: () => T): T {
  const frame: Frame = { name, caller: current.getStore(), isActive: true };
  const end = () => {
    frame.isActive = false;
  };
  return current.run(frame, () => {
    let result: T | undefined;
    try {
      result = body();
      return result;
    } finally {
      if (result instanceof Promise) result.then(end, end);
      else end();
    }
  });
}

/** Traces each step of a generator as a call from its consumer. */
export function* traceGenerator<T, R>(
  name: string,
  generator: Generator<T, R, unknown>,
): Generator<T, R, unknown> {
  return yield* {
    [Symbol.iterator]() {
      return this;
    },
    next: (value: unknown) => trace(name, () => generator.next(value)),
    return: (value: R) => trace(name, () => generator.return(value)),
    throw: (error: unknown) => trace(name, () => generator.throw(error)),
  };
}

/** Traces each step of an asynchronous generator as a call from its consumer. */
export async function* traceAsyncGenerator<T, R>(
  name: string,
  generator: AsyncGenerator<T, R, unknown>,
): AsyncGenerator<T, R, unknown> {
  return yield* {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: (value: unknown) => trace(name, () => generator.next(value)),
    return: (value: R) => trace(name, () => generator.return(value)),
    throw: (error: unknown) => trace(name, () => generator.throw(error)),
  };
}

/** Defines the global functions that wrapped sources call. */
export function installTracer(): void {
  Object.assign(globalThis, {
    __trace: trace,
    __traceGenerator: traceGenerator,
    __traceAsyncGenerator: traceAsyncGenerator,
  });
}
