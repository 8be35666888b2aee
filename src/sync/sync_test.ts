import { assertEquals, assertThrows } from "@std/assert";
import type { AgentResult } from "../agent/collect.ts";
import { extractText } from "../core/content.ts";
import { AbortedError, AuthError, BadRequestError, NoMessagesError } from "../core/errors.ts";
import { continueSync, promptSync } from "./mod.ts";

const getFixtureUrl = (name: string): URL =>
  new URL(`../../tests/fixtures/sync/${name}.ts`, import.meta.url);

function getLastText({ messages }: AgentResult): string {
  const last = messages.at(-1);
  return last?.role === "assistant" ? extractText(last.content) : "";
}

Deno.test("4.2, AC-15: promptSync blocks until the run has ended and gives the same result", () => {
  const result = promptSync(getFixtureUrl("agent"), "hello");
  assertEquals(getLastText(result), "You said hello");
  assertEquals([result.turns, result.stopReason, result.messages.length], [1, "stop", 2]);
});

Deno.test("4.2: continueSync goes on with the history of the module's agent", () => {
  assertEquals(getLastText(continueSync(getFixtureUrl("agent"))), "You said before");
});

Deno.test("promptSync carries a result of any size, and never cuts a character", () => {
  assertEquals(getLastText(promptSync(getFixtureUrl("agent"), "200000")), "é".repeat(200_000));
});

Deno.test("promptSync returns a failed run's error as an error of its class", () => {
  const { error, stopReason } = promptSync(getFixtureUrl("agent"), "fail");
  assertEquals([error instanceof AuthError, stopReason], [true, "error"]);
});

Deno.test("promptSync refuses a module that exports no agent", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("no_agent"), "hello"),
    BadRequestError,
    "must be an Agent",
  );
});

Deno.test("promptSync throws what prompt rejects with", () => {
  assertThrows(() => promptSync(getFixtureUrl("agent"), []), NoMessagesError);
});

Deno.test("promptSync gives up after its time", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("endless_agent"), "hello", { timeoutMs: 1 }),
    AbortedError,
    "longer than 1 ms",
  );
});

Deno.test("promptSync tells a runtime without workers what to do instead", () => {
  const { Worker } = globalThis;
  Object.assign(globalThis, { Worker: undefined });
  try {
    assertThrows(() => promptSync(getFixtureUrl("agent"), "hello"), BadRequestError, "no workers");
  } finally {
    Object.assign(globalThis, { Worker });
  }
});
