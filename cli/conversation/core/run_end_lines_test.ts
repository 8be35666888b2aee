import { assertEquals } from "@std/assert";
import { SessionError } from "../../../src/core/errors/errors.ts";
import { zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import { getDisplay } from "../../render/theme/get_display.ts";
import { toLineText } from "../view/lines.ts";
import { formatRunEnd } from "./run_end_lines.ts";

Deno.test("formatRunEnd(): names the commands that help when a program has deleted the session", () => {
  const abortReason = new SessionError(
    'Cannot write the session "a": another program has deleted its file: open the session again',
    { reason: "write_failed" },
  );
  const result = {
    runId: "1",
    turns: 1,
    text: "",
    messages: [],
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "aborted",
    abortReason,
  } as const;
  const lines = formatRunEnd({ result, durationMs: 0 }, {
    turns: 0,
    attempts: 1,
    baseUrl: undefined,
    env: () => undefined,
    view: { columns: 200, display: getDisplay({ isTerminal: true }, () => undefined) },
  });
  assertEquals(lines.map(toLineText), [
    'error: Cannot write the session "a": another program has deleted its file',
    "/export FILE keeps this conversation, and /reset begins a new one, which is saved.",
  ]);
});
