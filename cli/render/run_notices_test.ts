import { assertEquals } from "@std/assert";
import {
  type AgentError,
  type AgentEvent,
  AuthError,
  modelSpec,
  ModelThrottledError,
} from "../../mod.ts";
import { RunNotices } from "./run_notices.ts";

function fallback(from: string, to: string, discard = false): AgentEvent {
  return {
    type: "model_fallback",
    from: modelSpec(from),
    to: modelSpec(to),
    discard,
  } as AgentEvent;
}

function failure(error: AgentError): AgentEvent {
  return { type: "model_call_end", error } as AgentEvent;
}

function list(events: readonly AgentEvent[]): string[] {
  const notices = new RunNotices();
  return events.flatMap((event) => notices.get(event, {}) ?? []);
}

Deno.test("RunNotices: a fallback has its reason, unless a warning about a rejected key does", () => {
  const quota = new ModelThrottledError("No credit", { retryable: false });
  assertEquals(list([failure(quota), fallback("any/a", "any/b")]), [
    "a failed, continuing with b: No credit",
  ]);
  const rejected = new AuthError("Invalid key", { status: 401 });
  assertEquals(list([failure(rejected), fallback("any/a", "any/b")]), [
    "a failed, continuing with b",
  ]);
});

Deno.test("RunNotices: a fallback to another provider names both, whose models may have the same name", () => {
  const [line] = list([fallback("one/a", "two/a")]);
  assertEquals(line, "one/a failed, continuing with two/a");
});

Deno.test("RunNotices: a fallback of each turn is reported once, unless retries precede it or a text is discarded", () => {
  const turn = [fallback("any/a", "any/b"), fallback("any/b", "any/c")];
  const lines = ["a failed, continuing with b", "b failed, continuing with c"];
  assertEquals(list([...turn, ...turn]), lines);
  const error = new ModelThrottledError("Busy");
  const retry = { type: "retry", attempt: 1, delayMs: 0, error, discard: false } as AgentEvent;
  const retried = "attempt 1 failed, retrying now: Busy";
  assertEquals(list([...turn, retry, ...turn]), [...lines, retried, ...lines]);
  assertEquals(list([...turn, fallback("any/a", "any/b", true)]), [...lines, lines[0]]);
});
