/**
 * The example of `swink eval init`: cases, a fixture, and the replies of a scripted model.
 *
 * @module
 */

import { evalSetSchema } from "../../src/eval/mod.ts";
import type { ScriptedReply } from "../demo/anthropic_frames.ts";
import { SAMPLE_FILES } from "../demo/sample_project.ts";
import cases from "./example/cases.yaml.txt" with { type: "text" };

/** Returns the files of the example, by their paths relative to its directory. `testCommand` runs the tests. */
export function createExampleFiles(testCommand: string): Readonly<Record<string, string>> {
  const fixture = Object.entries(SAMPLE_FILES).map(([name, text]) => [`project/${name}`, text]);
  const tests = (SAMPLE_FILES["cart_test.mjs"] ?? "").trimEnd().replaceAll(
    /\n(?=.)/g,
    "\n          ",
  );
  return {
    "cases.yaml": cases.replace("TEST_COMMAND", testCommand).replace("CART_TEST", () => tests),
    "cases.schema.json": `${JSON.stringify(evalSetSchema, null, 2)}\n`,
    ...Object.fromEntries(fixture),
  };
}

/** The replies of the scripted model to the cases, in their order. They run no command, whose output could differ. */
export const EXAMPLE_REPLIES: readonly ScriptedReply[] = [
  {
    blocks: ["I'll look it up.", { tool: "read_file", input: { path: "cart.mjs" } }],
    inputTokens: 2_300,
    outputTokens: 40,
  },
  { blocks: ["5000"], inputTokens: 420, cachedTokens: 2_300, outputTokens: 6 },
  {
    blocks: [
      "I'll read the code and its tests.",
      { tool: "read_file", input: { path: "cart.mjs" } },
      { tool: "read_file", input: { path: "cart_test.mjs" } },
    ],
    inputTokens: 2_290,
    outputTokens: 80,
  },
  {
    blocks: [
      "The sum leaves the quantity out, and an order of exactly the limit pays for shipping.",
      {
        tool: "edit_file",
        input: {
          path: "cart.mjs",
          edits: [
            {
              old_string: "sum + item.price, 0)",
              new_string: "sum + item.price * item.quantity, 0)",
            },
            {
              old_string: "value > FREE_SHIPPING_FROM",
              new_string: "value >= FREE_SHIPPING_FROM",
            },
          ],
        },
      },
    ],
    inputTokens: 980,
    cachedTokens: 2_290,
    outputTokens: 190,
  },
  {
    blocks: ["I repaired the sum and the comparison with the limit in cart.mjs."],
    inputTokens: 300,
    cachedTokens: 3_270,
    outputTokens: 24,
  },
  { blocks: ["OK"], inputTokens: 2_280, outputTokens: 4 },
  {
    blocks: ["The new discount code is TANGERINE."],
    inputTokens: 30,
    cachedTokens: 2_280,
    outputTokens: 12,
  },
];
