import { assertEquals } from "@std/assert";
import { AuthError, type RunOutcome } from "../../../mod.ts";
import { zeroCost, zeroUsage } from "../../../src/core/models/usage.ts";
import { getRunExitCode, type RunEnd } from "./run_exit_code.ts";

const OUTCOME: RunOutcome = {
  messages: [],
  stopReason: "stop",
  usage: zeroUsage(),
  cost: zeroCost(),
};
const STOPPED_BY = { policy: "max_turns", reason: "The run reached its limit of 2 turns" };

/** Reasons for an exit code other than 0, in descending order of precedence. */
const REASONS: readonly (readonly [
  code: number,
  reason: Omit<Partial<RunEnd>, "outcome">,
  outcome?: Partial<RunOutcome>,
])[] = [
  [130, { signalExitCode: 130 }],
  [141, { isOutputClosed: true }, { stopReason: "aborted" }],
  [5, {}, { stoppedBy: STOPPED_BY }],
  [3, {}, { error: new AuthError("invalid key") }],
  [1, {}, { stopReason: "aborted" }],
  [6, { refused: ["bash"] }],
  [7, { isPatchEmpty: true }],
  [0, {}],
];

for (const [index, [code]] of REASONS.entries()) {
  Deno.test(`getRunExitCode(): ${code} takes precedence over the codes after it`, () => {
    const reasons = REASONS.slice(index);
    const outcome = Object.assign({}, OUTCOME, ...reasons.map(([, , outcome]) => outcome));
    const end = Object.assign({ refused: [] }, ...reasons.map(([, reason]) => reason));
    assertEquals(getRunExitCode({ ...end, outcome }), code);
  });
}

Deno.test("getRunExitCode(): a closed output ends a complete run with 141", () => {
  assertEquals(getRunExitCode({ outcome: OUTCOME, isOutputClosed: true, refused: [] }), 141);
});

Deno.test("getRunExitCode(): a reply that reached the output limit ends with 5", () => {
  const outcome: RunOutcome = { ...OUTCOME, stopReason: "length" };
  assertEquals(getRunExitCode({ outcome, refused: ["bash"] }), 5);
});
