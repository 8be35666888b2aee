import { assertEquals } from "@std/assert";
import { findEnding, warnUnknownStopReason } from "./stop_reasons.ts";

const REASONS = { complete: ["STOP", "tool_use"], truncated: ["length"] };

Deno.test("findEnding(): finds reasons in any case", () => {
  const reasons = ["stop", "STOP", "Tool_Use", "LENGTH"];
  assertEquals(reasons.map((reason) => findEnding(REASONS, reason)), [
    "complete",
    "complete",
    "complete",
    "truncated",
  ]);
});

Deno.test("findEnding(): returns undefined for unknown reasons, such as the name of a built-in property", () => {
  for (const reason of ["", "stopped", "constructor", "complete"]) {
    assertEquals(findEnding(REASONS, reason), undefined);
  }
});

Deno.test("warnUnknownStopReason(): reports the reason", () => {
  const warnings: unknown[] = [];
  warnUnknownStopReason("tired", { warning: (...parts) => warnings.push(...parts) });
  assertEquals(warnings, ["unknown_stop_reason", "Unknown stop reason: tired"]);
});
