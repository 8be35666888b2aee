/**
 * `#clear`: clears the screen.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";

/** `#clear`. */
export const clear = defineCommand({
  names: ["#clear"],
  summary: "Clears the screen; the conversation continues",
  worksDuringRuns: true,
  async run(_argument, { view }) {
    await view.clear();
  },
});
