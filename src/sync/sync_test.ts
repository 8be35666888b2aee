import { assertEquals, assertThrows } from "@std/assert";
import type { AgentResult } from "../agent/agent_result.ts";
import { extractText } from "../core/content.ts";
import { AbortedError, AuthError, BadRequestError, NoMessagesError } from "../core/errors.ts";
import { DEADLINE_MS } from "../../tests/deadline.ts";
import { continueSync, promptSync } from "./mod.ts";

const DEADLINE = { timeoutMs: DEADLINE_MS };

const getFixtureUrl = (name: string): URL =>
  new URL(`../../tests/fixtures/sync/${name}.ts`, import.meta.url);

function getLastText({ messages }: AgentResult): string {
  const last = messages.at(-1);
  return last?.role === "assistant" ? extractText(last.content) : "";
}

Deno.test("promptSync() blocks until the run has ended and returns its result [4.2, AC-15]", () => {
  const result = promptSync(getFixtureUrl("agent"), "hello", DEADLINE);
  assertEquals(getLastText(result), "You said hello");
  assertEquals([result.turns, result.stopReason, result.messages.length], [1, "stop", 2]);
});

Deno.test("continueSync() continues the history of the module's agent [4.2]", () => {
  assertEquals(getLastText(continueSync(getFixtureUrl("agent"), DEADLINE)), "You said before");
});

Deno.test("promptSync() returns a result of several chunks without splitting characters", () => {
  assertEquals(
    getLastText(promptSync(getFixtureUrl("agent"), "200000", DEADLINE)),
    "é".repeat(200_000),
  );
});

Deno.test("promptSync() returns the error of a failed run as an instance of its class", () => {
  const { error, stopReason } = promptSync(getFixtureUrl("agent"), "fail", DEADLINE);
  assertEquals([error instanceof AuthError, stopReason], [true, "error"]);
});

Deno.test("promptSync() throws when the module does not export an agent", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("no_agent"), "hello", DEADLINE),
    BadRequestError,
    "must be an Agent",
  );
});

Deno.test("promptSync() throws the error that prompt() rejects with", () => {
  assertThrows(() => promptSync(getFixtureUrl("agent"), [], DEADLINE), NoMessagesError);
});

Deno.test("promptSync() throws when the run does not end within timeoutMs", () => {
  assertThrows(
    () => promptSync(getFixtureUrl("endless_agent"), "hello", { timeoutMs: 1 }),
    AbortedError,
    "did not end within 1 ms",
  );
});

Deno.test("promptSync() names the remedy in a runtime without workers", () => {
  const { Worker, process } = globalThis;
  Object.assign(globalThis, { Worker: undefined, process: undefined });
  try {
    assertThrows(() => promptSync(getFixtureUrl("agent"), "hello"), BadRequestError, "no workers");
  } finally {
    Object.assign(globalThis, { Worker, process });
  }
});
