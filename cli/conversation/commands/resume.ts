/**
 * `/resume`: continues a saved session.
 *
 * @module
 */

import type { SessionSummary } from "../../../src/memory/mod.ts";
import { ConfigurationError, UsageError } from "../../host/cli_error.ts";
import { FORK_ADVICE } from "../../sessions/session_choice.ts";
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
    const { found, titles } = await listSessions(context);
    return found.map(({ id: text }, index) => ({ text, detail: titles[index] }));
  },
  async run(argument, context) {
    const { sessions, printHistory, view } = context;
    const id = argument === ""
      ? await askForSession(context)
      : findId(argument, (await listSessions(context)).found);
    if (id === undefined) return;
    if (id === sessions.session?.id && !sessions.isLost) {
      throw new UsageError("This session is open already");
    }
    await sessions.switchTo({ type: "existing", id, fork: false })
      .catch((error) => Promise.reject(adviseCopy(error, id)));
    view.redraw();
    await printHistory();
  },
});

/** Advises the command for a copy of a session that is open elsewhere, since `/resume` has no option for it. */
function adviseCopy(error: unknown, id: string): unknown {
  const isLocked = error instanceof ConfigurationError && error.advice === FORK_ADVICE;
  if (!isLocked) return error;
  return new ConfigurationError(
    error.message,
    `Continue in a copy: leave, and start swink -r ${id} --fork`,
  );
}

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
  return answer === "" ? undefined : findId(answer, found);
}

/** Returns the id of a session by its number in a list; another text is the beginning of an id. */
function findId(text: string, found: readonly SessionSummary[]): string {
  return (/^\d{1,2}$/.test(text) ? found[Number(text) - 1]?.id : undefined) ?? text;
}
