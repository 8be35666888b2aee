/**
 * What the model of the demo says.
 *
 * @module
 */

import type { ScriptedReply } from "./anthropic_frames.ts";

/** What the person of the demo asks for. */
export const DEMO_PROMPT = "The tests of this project fail. Find out why, and repair it.";

/** The replies of the model, one for each request. The tests are run by `testCommand`. */
export function createDemoReplies(testCommand: string): readonly ScriptedReply[] {
  return [
    {
      blocks: [
        "I'll look at what is here, and see the tests fail.",
        { tool: "list_directory", input: {} },
        { tool: "bash", input: { command: testCommand } },
      ],
      inputTokens: 2_310,
      outputTokens: 96,
    },
    {
      blocks: [
        "Two of the four tests fail, and both are about the total. I'll read it beside its tests.",
        { tool: "read_file", input: { path: "cart.mjs" } },
        { tool: "read_file", input: { path: "cart_test.mjs" } },
      ],
      inputTokens: 890,
      cachedTokens: 2_310,
      outputTokens: 118,
    },
    {
      blocks: [
        "Two mistakes: the sum counts each item once, whatever its quantity, and an order of exactly the limit still " +
        "pays for shipping. Each is one line.",
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
        "All four tests pass now. In cart.mjs, total() left the quantity out of the sum and compared with > where the " +
        "limit itself is meant to be free; I changed these two lines and nothing else.",
      ],
      inputTokens: 540,
      cachedTokens: 4_580,
      outputTokens: 72,
    },
  ];
}
