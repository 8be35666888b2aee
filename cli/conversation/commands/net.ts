/**
 * `/net`: shows or sets the network access of commands.
 *
 * @module
 */

import { describeNet } from "../../render/describe_net.ts";
import { parseNet } from "../../run/settings/settings.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `/net`. */
export const net = defineCommand({
  names: ["/net"],
  argument: "[on|off|HOSTS]",
  summary: "Shows or sets the network access of the commands that start later",
  worksDuringRuns: true,
  complete: () => [
    { text: "on", detail: "all hosts" },
    { text: "off", detail: "no network" },
  ],
  async run(argument, { view, setup: { agent, controls } }) {
    const { sandbox } = controls.tools;
    if (argument !== "") {
      const isDefault = agent.state.systemPrompt === controls.createSystemPrompt(sandbox.net);
      sandbox.setNet(parseNet(argument, "/net"));
      // A system prompt of the user does not describe the network.
      if (isDefault) agent.setSystemPrompt(controls.createSystemPrompt(sandbox.net));
      view.redraw();
    }
    const report = await sandbox.describe();
    const note = sandbox.net !== "on" && report.status === "unconfined"
      ? ", since no sandbox confines them"
      : "";
    const access = describeNet(sandbox.net, report);
    // Any word is the name of a host, such as one that was meant as an answer.
    const hosts = Array.isArray(sandbox.net) && access !== "on"
      ? `only the ${sandbox.net.length === 1 ? "host" : "hosts"} `
      : "";
    await view.print([toLine(`network of commands: ${hosts}${access}${note}`, "faint")]);
  },
});
