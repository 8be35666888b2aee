/**
 * `#approve`: shows and changes which tool calls need approval.
 *
 * @module
 */

import type { ApprovalMode } from "../../../mod.ts";
import type { TrustGrant } from "../../../src/tools/mod.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import type { Line } from "../../render/line/line.ts";
import { toPlainText } from "../../render/plain_text.ts";
import type { LateApprovalGate } from "../../run/approval/call_approval.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** The modes of the gate by their names here. */
const MODES: Readonly<Record<string, { readonly mode: ApprovalMode; readonly effect: string }>> = {
  on: { mode: "always", effect: "asks about every call" },
  smart: { mode: "smart", effect: "asks about calls that could change something" },
  off: { mode: "bypassed", effect: "asks about no call" },
};

/** `#approve`. */
export const approve = defineCommand({
  names: ["#approve", "/approve", "/permissions"],
  argument: "[on|smart|off|untrust [TOOL]]",
  summary: "Shows or sets which calls need approval, and ends the trust in tools",
  worksDuringRuns: true,
  complete: () => [
    ...Object.entries(MODES).map(([text, { effect: detail }]) => ({ text, detail })),
    { text: "untrust", detail: "ends the trust in all tools, or in one" },
  ],
  async run(argument, { view, setup: { controls: { gate } } }) {
    const [word = "", tool, ...others] = argument.split(/\s+/);
    // More words are no answer to whether calls are approved.
    if (word === "untrust" && others.length === 0) untrust(gate, tool);
    else if (word !== "") gate.mode = parseMode(argument);
    await view.print(formatGate(gate));
  },
});

function parseMode(word: string): ApprovalMode {
  const found = Object.hasOwn(MODES, word) ? MODES[word] : undefined;
  if (found) return found.mode;
  const modes = Object.keys(MODES).join(", ");
  const suggestion = didYouMean(word, [...Object.keys(MODES), "untrust"]);
  throw new UsageError(
    `#approve takes ${modes} or untrust, not ${JSON.stringify(word)}${suggestion}`,
  );
}

/** Removes the grants, or those of one tool. */
function untrust(gate: LateApprovalGate, tool: string | undefined): void {
  const { trusted } = gate;
  const names = [...new Set(trusted.map(({ name }) => name))];
  if (tool !== undefined && !names.includes(tool)) {
    throw new UsageError(`The tool ${tool} is not trusted${didYouMean(tool, names)}`);
  }
  gate.clearTrust();
  for (const grant of trusted) if (tool !== undefined && grant.name !== tool) gate.trust(grant);
}

function formatGate({ mode, trusted }: LateApprovalGate): Line[] {
  const isMode = (candidate: ApprovalMode) =>
    candidate === mode || (candidate === "always" && mode === "enabled");
  const [name, { effect }] = Object.entries(MODES).find(([, { mode }]) => isMode(mode)) ??
    [mode, { effect: "" }];
  return [
    [{ text: `approval ${name}`, role: "name" }, { text: `: ${effect}` }],
    trusted.length === 0
      ? toLine("trusted in this session: nothing", "faint")
      : toLine(`trusted in this session: ${trusted.map(formatGrant).join(", ")}`),
  ];
}

function formatGrant(grant: TrustGrant): string {
  const { name } = grant;
  if (grant.type === "prefix") return toPlainText(`${name} ${grant.prefix} …`);
  return toPlainText(grant.readOnly ? `${name} in plan mode` : name);
}
