import { assertEquals } from "@std/assert";
import { ModelNotFoundError, NetworkError, SessionError } from "../../../src/core/errors/errors.ts";
import { zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getRunEndMessage } from "./run_end_message.ts";

Deno.test("getRunEndMessage(): names the error or the reason that has aborted the run", () => {
  const outcome = {
    messages: [],
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "aborted",
  } as const;
  const message = (abortReason: unknown) =>
    getRunEndMessage({ outcome: { ...outcome, abortReason }, refused: [] }, {
      exitCode: ExitCode.failed,
      baseUrl: undefined,
      env: () => undefined,
    });
  const error = new SessionError("The disk is full (os error 28)", { reason: "write_failed" });
  assertEquals(message(error), { reason: "The disk is full" });
  assertEquals(message("interrupted by the input"), { reason: "interrupted by the input" });
  assertEquals(message({}), { reason: "the run failed" });
});

Deno.test("getRunEndMessage(): gives advice about the name of a model that a server does not have", () => {
  const outcome = {
    messages: [],
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "error",
  } as const;
  const advice = (error: ModelNotFoundError) =>
    getRunEndMessage({ outcome: { ...outcome, error }, refused: [] }, {
      exitCode: ExitCode.configuration,
      baseUrl: undefined,
      env: () => undefined,
    })?.advice;
  const served = new ModelNotFoundError("no such model", { status: 404 });
  assertEquals(advice(served), "Check the name of the model in -m provider/model.");
  const local = new ModelNotFoundError("download it with: swink models local pull qwen3-4b");
  assertEquals(advice(local), undefined);
});

Deno.test("getRunEndMessage(): gives no advice about the address of a server that has reported an error in its reply", () => {
  const outcome = {
    messages: [],
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "error",
  } as const;
  const advice = (message: string) => {
    const error = new NetworkError(message, { provider: "anthropic" });
    return getRunEndMessage({ outcome: { ...outcome, error }, refused: [], attempts: 3 }, {
      exitCode: ExitCode.unavailable,
      baseUrl: "https://models.example",
      env: () => undefined,
    })?.advice;
  };
  assertEquals(
    advice("anthropic reported an error: Overloaded"),
    "Gave up after 3 attempts. Try again later.",
  );
  assertEquals(
    advice("anthropic: connection lost"),
    "Check the network and --base-url. Gave up after 3 attempts.",
  );
});
