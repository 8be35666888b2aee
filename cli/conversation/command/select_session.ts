/**
 * The selection of a saved session by its number in a list, by its id, or by words in it.
 *
 * @module
 */

import type { SessionSummary } from "../../../src/memory/mod.ts";
import { UsageError } from "../../host/cli_error.ts";
import { toLine } from "../view/lines.ts";
import type { CommandContext } from "./command_context.ts";
import { requireStore } from "./require_store.ts";
import {
  findSessions,
  getNumberedSessions,
  type ListedSessions,
  listSessions,
  showList,
} from "./session_lists.ts";

const NO_SESSION = toLine("No session of this directory is saved", "faint");

const NO_HIT = toLine("No session of this directory has this number, id or words", "faint");

/**
 * Selects a session by a text. Lists the last sessions for an empty text, and those that have the words of one that is
 * neither a number nor the beginning of an id, and asks for one of them.
 *
 * @returns The id, or its beginning; `undefined` if the user cancels.
 * @throws {UsageError} If no session matches the text.
 */
export async function selectSession(
  text: string,
  context: CommandContext,
): Promise<string | undefined> {
  if (text === "") return await askForSession(await listSessions(context), context);
  const id = await findId(text, await getNumberedSessions(context), context);
  if (id !== undefined) return id;
  const matching = await findSessions(text, context);
  if (matching.found.length > 0) return await askForSession(matching, context);
  throw new UsageError(
    `There is no session ${JSON.stringify(text)}, and none of this directory has these words`,
    "List the sessions of all directories with: swink sessions list --all",
  );
}

/** Lists sessions and asks for one of them, or for words, until the user has selected one. */
async function askForSession(
  listed: ListedSessions,
  context: CommandContext,
): Promise<string | undefined> {
  const { view } = context;
  const { signal } = new AbortController();
  let { found } = listed;
  const lines = found.length === 0 ? [NO_SESSION, ...listed.lines] : listed.lines;
  await showList(listed, lines, context);
  while (found.length > 0) {
    const answer = (await view.askText({ message: "Number, id or words" }, signal))?.trim() ?? "";
    if (answer === "") return undefined;
    const id = await findId(answer, found, context);
    if (id !== undefined) return id;
    const matching = await findSessions(answer, context);
    if (matching.found.length === 0) {
      await view.print([NO_HIT]);
      continue;
    }
    found = matching.found;
    await showList(matching, matching.lines, context);
  }
  return undefined;
}

/** Returns the id of a session by its number in a list, or a text that is the beginning of an id; `undefined` for another one. */
async function findId(
  text: string,
  found: readonly SessionSummary[],
  { sessions }: CommandContext,
): Promise<string | undefined> {
  const isNumber = /^\d{1,2}$/.test(text);
  const numbered = isNumber ? found[Number(text) - 1] : undefined;
  if (numbered) return numbered.id;
  const all = await (await requireStore(sessions)).list();
  // Most ids begin with a year: a number above those of the list is not the beginning of all of them.
  const isMatch = ({ id }: SessionSummary) => isNumber ? id === text : id.startsWith(text);
  return all.some(isMatch) ? text : undefined;
}
