/**
 * `/reset`: starts a new conversation.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/reset`. */
export const reset = defineCommand({
  names: ["/reset", "/clear", "/new"],
  summary: "Starts a new conversation; the old one stays saved, and trust in tools ends",
  async run(_argument, { view, sessions, settings }) {
    const { type } = settings.session;
    await sessions.switchTo({ type: type === "none" ? "none" : "new" });
    await view.print([toLine("New conversation", "faint")]);
  },
});
