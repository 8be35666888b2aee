import { assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { slidingWindow } from "./sliding_window.ts";
import { summarize } from "./summarize.ts";

for (
  const [options, words] of [
    [undefined, "Pass options such as { contextWindow: 200_000 }, not undefined"],
    [{ contextWindow: NaN }, "contextWindow must be a number of at least 0, not NaN"],
    [{ contextWindow: "8000" }, 'contextWindow must be a number of at least 0, not "8000"'],
    [{ contextWindow: 8000, threshold: -1 }, "threshold must be a number of at least 0, not -1"],
    [{ contextWindow: 8000, keepSteps: NaN }, "keepSteps must be a number of at least 0, not NaN"],
  ] as const
) {
  Deno.test(`slidingWindow(), summarize(): throw when ${words}`, () => {
    for (const create of [slidingWindow, summarize]) {
      assertThrows(() => create(options as never), BadRequestError, words);
    }
  });
}

Deno.test("slidingWindow(), summarize(): refuse a misspelt window, with which nothing would be cut", () => {
  const streamFn = scriptedStream([]);
  assertThrows(
    () => slidingWindow({ contextwindow: 8000 } as never),
    BadRequestError,
    'Unknown option "contextwindow" of slidingWindow(): did you mean contextWindow?',
  );
  assertThrows(
    () => summarize({ streamFn, contextWindow: 8000, keep: 3 } as never),
    BadRequestError,
    'Unknown option "keep" of summarize(): did you mean keepSteps?',
  );
});

Deno.test("summarize(): refuses to do without a streamFn, which would fail for each summary", () => {
  assertThrows(
    () => summarize({ contextWindow: 8000 } as never),
    BadRequestError,
    "streamFn must be a function, not undefined",
  );
});

Deno.test("summarize(): refuses invalid numbers, with which no summary would be written", () => {
  const streamFn = scriptedStream([]);
  for (const name of ["maxSummaryTokens", "summaryWindow", "timeoutMs"]) {
    for (const value of [NaN, -1, "8000"]) {
      assertThrows(
        () => summarize({ streamFn, contextWindow: 8000, [name]: value }),
        BadRequestError,
        `${name} must be a number of at least 0`,
      );
    }
  }
});
