/**
 * `/resume`: continues a saved session.
 *
 * @module
 */

import { UsageError } from "../../host/cli_error.ts";
import type { CommandContext } from "../command/command_context.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { listSessions } from "../command/session_lists.ts";
import { toLine } from "../view/lines.ts";

/** `/resume`. */
export const resume = defineCommand({
  names: ["/resume", "#load", "/load"],
  argument: "[ID]",
  summary: "Continues a saved session, by its id or its number in the list",
  async complete(context) {
    const { found } = await listSessions(context);
    return found.map(({ id: text, title, firstPrompt: detail }) => ({
      text,
      detail: title ?? detail,
    }));
  },
  async run(argument, context) {
    const { sessions, printHistory, view } = context;
    const id = argument === "" ? await askForSession(context) : await findId(argument, context);
    if (id === undefined) return;
    if (id === sessions.session?.id) throw new UsageError("This session is open already");
    await sessions.switchTo({ type: "existing", id, fork: false });
    view.redraw();
    await printHistory();
  },
});

/** Asks for one of the last sessions, by its number or the beginning of its id. */
async function askForSession(context: CommandContext): Promise<string | undefined> {
  const { view } = context;
  const { found, lines } = await listSessions(context);
  if (found.length === 0) {
    await view.print([toLine("No session of this directory is saved", "faint")]);
    return undefined;
  }
  await view.print(lines);
  const { signal } = new AbortController();
  const answer = (await view.askText({ message: "Number or id" }, signal))?.trim() ?? "";
  return answer === "" ? undefined : await findId(answer, context);
}

/** Returns the id of a session by its number in the list; another text is the beginning of an id. */
async function findId(text: string, context: CommandContext): Promise<string> {
  if (!/^\d{1,2}$/.test(text)) return text;
  const { found } = await listSessions(context);
  return found[Number(text) - 1]?.id ?? text;
}
