import { assertEquals } from "@std/assert";
import { SessionError } from "../../src/core/errors.ts";
import { zeroCost, zeroUsage } from "../../src/core/usage.ts";
import { ExitCode } from "../host/exit_code.ts";
import { getRunEndMessage } from "./run_end_message.ts";

Deno.test("getRunEndMessage(): names the error that has aborted the run", () => {
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
  assertEquals(message("a listener"), { reason: "the run failed" });
});
