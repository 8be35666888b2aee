/**
 * `/tree`: shows the prompts of all branches of the session, and moves to one of them.
 *
 * @module
 */

import type { Session } from "../../../src/memory/mod.ts";
import { UsageError } from "../../host/cli_error.ts";
import type { Line } from "../../render/line/line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { cutLine } from "../command/cut_line.ts";
import { moveSession } from "../command/move_session.ts";
import { requireSession } from "../command/require_session.ts";
import { listTree, type PromptNode } from "../command/session_prompts.ts";
import { toLine } from "../view/lines.ts";

/** `/tree`. */
export const tree = defineCommand({
  names: ["/tree"],
  argument: "[N]",
  summary: "Shows the prompts of all branches, or continues after the reply to prompt N",
  async run(argument, { view, sessions, printHistory }) {
    const session = requireSession(sessions);
    const nodes = await listTree(session);
    if (nodes.length === 0) {
      return await view.print([toLine("No prompt has been sent yet", "faint")]);
    }
    if (argument === "") {
      const lines = formatTree(nodes);
      return await view.print(lines.map((line) => cutLine(line, view)));
    }
    const node = /^\d+$/.test(argument) ? nodes[Number(argument) - 1] : undefined;
    if (!node) {
      throw new UsageError(
        `/tree takes a number from 1 to ${nodes.length}, not ${JSON.stringify(argument)}`,
      );
    }
    await moveSession(sessions, findLastEntry(session, node, nodes));
    view.redraw();
    await printHistory();
  },
});

function formatTree(nodes: readonly PromptNode[]): Line[] {
  const width = String(nodes.length).length;
  return nodes.map(({ text, depth, isCurrent }, index) => [
    { text: `${String(index + 1).padStart(width)} ${isCurrent ? "*" : " "} `, role: "faint" },
    { text: "  ".repeat(depth) },
    {
      text: toOneLine(toPlainText(text)),
      role: isCurrent ? "text" : "faint",
    },
  ]);
}

/** Returns the id of the last entry after a prompt that belongs to no later prompt. */
function findLastEntry(session: Session, node: PromptNode, nodes: readonly PromptNode[]): string {
  const prompts = new Set(nodes.map(({ id }) => id));
  const members = new Set([node.id]);
  let last = node.id;
  for (const { id, parentId } of session.outline) {
    if (parentId === null || !members.has(parentId) || prompts.has(id)) continue;
    members.add(id);
    last = id;
  }
  return last;
}
