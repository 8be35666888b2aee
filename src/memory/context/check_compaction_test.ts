import { assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors.ts";
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
