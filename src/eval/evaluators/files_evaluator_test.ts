import { assertEquals } from "@std/assert";
import { zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type { ExpectedFile } from "../case/eval_case.ts";
import { createFilesEvaluator } from "./files_evaluator.ts";

/** Compares a file with some bytes with an expectation; returns the reason why it is not met. */
async function findReason(
  bytes: readonly number[],
  expected: ExpectedFile,
): Promise<string | undefined> {
  const evaluator = createFilesEvaluator(() =>
    Promise.resolve({ type: "content", bytes: new Uint8Array(bytes) })
  );
  const score = await evaluator.evaluate({
    evalCase: { id: "case", userMessages: ["Go"], expectedFiles: [expected] },
    trajectory: {
      calls: [],
      replies: [],
      turns: 1,
      response: "",
      stopReason: "stop",
      usage: zeroUsage(),
      cost: zeroCost(),
    },
    durationMs: 1,
    directory: "/run",
    options: {},
    signal: new AbortController().signal,
  });
  return score?.reason;
}

Deno.test("files: a file equals a text only with all of its bytes", async () => {
  const equals = (text: string): ExpectedFile => ({ type: "equals", path: "a", text });
  const withMark = [0xef, 0xbb, 0xbf, 0x41];
  assertEquals(await findReason(withMark, equals("A")), "a has another content");
  assertEquals(await findReason(withMark, equals("\ufeffA")), undefined);
  const latin = [0xff, 0x41];
  assertEquals(await findReason(latin, equals("\ufffdA")), "a is not a text in UTF-8");
  assertEquals(await findReason(latin, { type: "exists", path: "a" }), undefined);
  assertEquals(await findReason(latin, { type: "missing", path: "a" }), "a exists");
});
