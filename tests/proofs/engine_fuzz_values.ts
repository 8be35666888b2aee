/**
 * Random values that untyped code may return or throw.
 *
 * @module
 */

import {
  AbortedError,
  ContextWindowOverflowError,
  NetworkError,
} from "../../src/core/errors/errors.ts";
import type { Cost, Usage } from "../../src/core/models/usage.ts";
import type { RandomSource } from "./engine_fuzz_random.ts";

/** Creates an object that contains itself. */
export function createCycle(): Record<string, unknown> {
  const cycle: Record<string, unknown> = { name: "cycle" };
  cycle["self"] = cycle;
  return cycle;
}

/** Creates a JSON value with unusual keys and texts. */
export function randomJson(random: RandomSource, depth = 2): unknown {
  const scalars = [
    () => null,
    () => random.chance(0.5),
    () => random.integer(100) - 50,
    () => random.oneOf(["", " ", "text", "é🎉", "\u2028\ud800", "[1, 2]", '"']),
  ];
  if (depth === 0) return random.create<unknown>(scalars);
  return random.create<unknown>([
    ...scalars,
    () => random.array(0, 3, () => randomJson(random, depth - 1)),
    () => {
      const keys = random.array(
        0,
        3,
        () => random.oneOf(["a", "b", "", "then", "content", "type"]),
      );
      return Object.fromEntries(keys.map((key) => [key, randomJson(random, depth - 1)]));
    },
    () => JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}'),
  ]);
}

/** Creates a value that no hook may return. */
export function randomNonsense(random: RandomSource): unknown {
  return random.create<unknown>([
    () => null,
    () => true,
    () => NaN,
    () => -1,
    () => 10n,
    () => "",
    () => "text",
    () => Symbol("symbol"),
    () => () => 1,
    () => [],
    () => [null],
    () => ({}),
    () => ({ type: "unknown" }),
    () => ({ type: Symbol("type") }),
    () => Object.create(null),
    () => createCycle(),
    () => new Date(NaN),
    () => new Map([[1, 2]]),
  ]);
}

/** Creates a value that a hook may return although it must not: nonsense, a promise, or an object that cannot be read. */
export function randomReturnValue(random: RandomSource): unknown {
  return random.create<unknown>([
    () => randomNonsense(random),
    () => randomNonsense(random),
    () => randomNonsense(random),
    () => ({
      get type(): string {
        throw new Error("The getter is broken");
      },
    }),
    () => Promise.resolve(randomNonsense(random)),
    () => Promise.reject(randomThrown(random)),
  ]);
}

/** Creates a value to throw. */
export function randomThrown(random: RandomSource): unknown {
  return random.create<unknown>([
    () => new Error("It is broken"),
    () => new NetworkError("No network"),
    () => new ContextWindowOverflowError("Too long"),
    () => new AbortedError(),
    () => "text",
    () => undefined,
    () => null,
    () => 10n,
    () => Symbol("symbol"),
    () => Object.create(null),
    () => createCycle(),
    () => ({ message: createCycle() }),
    () => ({
      get message(): string {
        throw new Error("The getter is broken");
      },
    }),
  ]);
}

/** Creates token counts: whole numbers, or what an untyped model or tool may report. */
export function randomUsage(random: RandomSource): Usage {
  const [input, output] = [random.integer(1000), random.integer(100)];
  const usage = { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
  return random.create<Usage>([
    () => usage,
    () => usage,
    () => ({ ...usage, extra: { reasoning: random.integer(9) } }),
    () => ({ input, output }) as Usage,
    () => ({ ...usage, input: NaN, extra: { reasoning: -1 } }),
    () => ({ ...usage, total: "many", extra: 1 }) as unknown as Usage,
    () => randomNonsense(random) as Usage,
  ]);
}

/** Creates costs: amounts, unknown ones, or what an untyped model or tool may report. */
export function randomCost(random: RandomSource): Cost {
  const [input, output] = [random.integer(8) / 4, random.integer(8) / 4];
  const cost = { input, output, cacheRead: 0, cacheWrite: 0, total: input + output };
  return random.create<Cost>([
    () => cost,
    () => cost,
    () => ({ ...cost, extra: { search: 0.5 } }),
    () => ({ ...cost, input: null, total: null }),
    () => ({ total: 1 }) as Cost,
    () => ({ ...cost, total: -1, extra: { search: NaN } }),
    () => randomNonsense(random) as Cost,
  ]);
}
