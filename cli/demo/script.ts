/**
 * The scripted conversation of the demo.
 *
 * @module
 */

import type { ScriptedReply } from "./anthropic_frames.ts";

/** The prompt of the demo. */
export const DEMO_PROMPT = "The tests of this project fail. Find out why, and repair it.";

/** Creates the replies of the model, one per request. `testCommand` runs the tests. */
export function createDemoReplies(testCommand: string): readonly ScriptedReply[] {
  return [
    {
      blocks: [
        "I'll list the files and run the tests.",
        { tool: "list_directory", input: {} },
        { tool: "bash", input: { command: testCommand } },
      ],
      inputTokens: 2_310,
      outputTokens: 96,
    },
    {
      blocks: [
        "Two of the four tests fail, both in total(). I'll read the code and its tests.",
        { tool: "read_file", input: { path: "cart.mjs" } },
        { tool: "read_file", input: { path: "cart_test.mjs" } },
      ],
      inputTokens: 890,
      cachedTokens: 2_310,
      outputTokens: 118,
    },
    {
      blocks: [
        "Two bugs: the sum ignores the quantity of an item, and an order of exactly the limit still pays for " +
        "shipping. Each is one line.",
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
      inputTokens: 1_120,
      cachedTokens: 3_200,
      outputTokens: 214,
    },
    {
      blocks: ["Now the tests again.", { tool: "bash", input: { command: testCommand } }],
      inputTokens: 260,
      cachedTokens: 4_320,
      outputTokens: 61,
    },
    {
      blocks: [
        "All four tests pass now. In cart.mjs, total() left the quantity out of the sum and compared with > although " +
        "shipping is free at the limit itself; I changed these two lines and nothing else.",
      ],
      inputTokens: 540,
      cachedTokens: 4_580,
      outputTokens: 72,
    },
  ];
}
