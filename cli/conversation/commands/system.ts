/**
 * `/system`: shows or replaces the system prompt.
 *
 * @module
 */

import { defineCommand } from "../command/conversation_command.ts";
import { toLine, toLines } from "../view/lines.ts";

/** `/system`. */
export const system = defineCommand({
  names: ["/system"],
  argument: "[TEXT|default]",
  summary: "Shows the system prompt, or replaces it in this conversation",
  complete: () => [{ text: "default", detail: "restores the system prompt of the start" }],
  async run(argument, { view, setup: { agent, controls } }) {
    if (argument === "") return await view.print(toLines(agent.state.systemPrompt));
    const isDefault = argument === "default";
    const { net } = controls.tools.sandbox;
    agent.setSystemPrompt(isDefault ? controls.createSystemPrompt(net) : argument);
    await view.print([toLine(`System prompt ${isDefault ? "restored" : "replaced"}`, "faint")]);
  },
});
