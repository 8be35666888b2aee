import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Policy, PreDispatchContext, PreTurnContext } from "../../core/hooks/policy.ts";
import { addGuards } from "./guard.ts";

const preTurnContext = {} as PreTurnContext;
const preDispatchContext = {} as PreDispatchContext;

Deno.test("addGuards() puts the inherited policies last, and calls one that both have once", () => {
  const own: Policy = { name: "own" };
  const both: Policy = { name: "both" };
  const inherited: Policy = { name: "inherited" };
  const policies = addGuards([own, both], [both, inherited]);
  assertEquals(policies.map(({ name }) => name), ["own", "both", "inherited"]);
  assertStrictEquals(policies[1], both);
  // One level further down, the guard is the policy that both have.
  const below = addGuards([inherited], policies);
  assertEquals(below.map(({ name }) => name), ["inherited", "own", "both"]);
  assertStrictEquals(below[0], inherited);
});

Deno.test("addGuards() keeps the hooks that a policy has, and no others", () => {
  const policy: Policy = { name: "some", preTurn: () => {}, onDelta: () => {} };
  const [guard] = addGuards([], [policy]);
  assertEquals(Object.keys(guard ?? {}).toSorted(), ["name", "onDelta", "preTurn"]);
});

Deno.test("addGuards() keeps stops and refusals, and drops messages and changes, also of promises", async () => {
  const stop = { type: "stop", reason: "enough" } as const;
  const skip = { type: "skip", reason: "no" } as const;
  const inject = { type: "inject", messages: [] } as const;
  const verdicts = [stop, inject, skip, undefined];
  const kept: unknown[] = [];
  for (const verdict of verdicts) {
    for (const returned of [verdict, Promise.resolve(verdict)]) {
      const [guard] = addGuards([], [{
        name: "answers",
        preTurn: () => returned as typeof stop,
        preDispatch: () => returned as typeof skip,
      }]);
      kept.push([
        await guard?.preTurn?.(preTurnContext),
        await guard?.preDispatch?.(preDispatchContext),
      ]);
    }
  }
  assertEquals(kept, [
    [stop, stop],
    [stop, stop],
    [undefined, undefined],
    [undefined, undefined],
    [skip, skip],
    [skip, skip],
    [undefined, undefined],
    [undefined, undefined],
  ]);
});

Deno.test("addGuards() calls the hooks as methods of their policy", () => {
  const policy: Policy & { calls: number } = {
    name: "counts",
    calls: 0,
    preTurn() {
      this.calls++;
    },
  };
  addGuards([], [policy])[0]?.preTurn?.(preTurnContext);
  assertEquals(policy.calls, 1);
});
