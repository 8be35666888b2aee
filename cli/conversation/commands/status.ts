/**
 * `#info`: shows the state of the conversation.
 *
 * @module
 */

import { formatModel } from "../../render/format_model.ts";
import { formatNumber } from "../../render/format_number.ts";
import { pluralize } from "../../render/tool_line.ts";
import type { SessionControl } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { formatFields } from "../command/format_fields.ts";

/** `#info`. */
export const status = defineCommand({
  names: ["#info", "/info", "/status"],
  summary: "Shows session, directory, model, permissions and usage",
  worksDuringRuns: true,
  async run(_argument, { view, settings, setup, sessions, record, record: { total } }) {
    const { agent, planMode, controls: { gate, tools } } = setup;
    const { messages, model, tools: agentTools } = agent.state;
    const { net } = tools.sandbox;
    const prompts = record.earlierTurns.count + record.turns.length;
    const sandbox = await setup.describeSandbox();
    await view.print(formatFields([
      ["session", formatSession(sessions)],
      ["directory", settings.cwd],
      ["model", formatModel(model)],
      ["mode", planMode?.isActive ? "plan" : "execute"],
      ["approval", gate.mode],
      ["network", typeof net === "string" ? net : net.join(", ")],
      ["sandbox", settings.sandbox === "off" ? "off" : sandbox.summary],
      ["tools", agentTools.map(({ name }) => name).join(", ")],
      ["messages", pluralize(messages.length, "message")],
      [
        "tokens",
        `${formatNumber(total.usage.total)} in ${pluralize(prompts, "prompt")}`,
      ],
    ], view));
  },
});

function formatSession({ session, isPending }: SessionControl): string {
  return session?.id ?? (isPending ? "begins with the first prompt" : "not saved");
}
