/**
 * The actions of `swink sessions`.
 *
 * @module
 */

import { LimitedBytesTransformStream } from "@std/streams/limited-bytes-transform-stream";
import { toText } from "@std/streams/to-text";
import { SessionError } from "../../src/core/errors/errors.ts";
import {
  exportHtml,
  exportJsonl,
  exportMarkdown,
  FileSessionStore,
  importSession as createFromJsonl,
  listWithoutSubAgents,
  type Session,
  type SessionSummary,
} from "../../src/memory/mod.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import { getFileProblem } from "../host/file_problem.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { requireProgramDirectories } from "../host/program_directories.ts";
import { readTextFile } from "../host/read_text_file.ts";
import { findKeyboard } from "../host/terminal.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { toLines } from "../questions/choice.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { toCliTerms } from "../render/error_text.ts";
import { escapeControls, toJsonLine } from "../render/json_line.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getTableOptions } from "../render/table.ts";
import { toVisibleText } from "../render/visible_text.ts";
import { findSession } from "./find_session.ts";
import { getChangeDirectory, getSessionDirectory } from "./session_directory.ts";
import { formatHits, formatSessions, type SessionListOptions } from "./session_list.ts";
import { adviseUnopenable, describeUnopenable } from "./unopenable_sessions.ts";

/** Maximum size of an imported session; a text cannot have more than 512 MB. */
const MAX_IMPORT_BYTES = 500_000_000;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Options of the lists. */
export interface ListOptions {
  /** Whether the sessions of all directories are listed. */
  readonly all: boolean;
  /** Maximum number of lines. */
  readonly limit: number;
  /** Format of standard output. */
  readonly outputFormat: "text" | "json";
}

/** Lists the sessions, the last one first. */
export async function listSessions(
  { all, limit, outputFormat }: ListOptions,
  host: Host,
): Promise<ExitCode> {
  return await useStore(host, async (store) => {
    const filter = await getDirectoryFilter(all);
    const found = await listWithoutSubAgents(store, { limit: limit + 1, ...filter });
    const listed = found.slice(0, limit);
    const { output, messages } = host.terminal;
    if (outputFormat === "json") {
      await output.write(toJsonLine(listed));
      return ExitCode.ok;
    }
    await output.write(formatSessions(listed, getListOptions(host, all)));
    if (listed.length < found.length) {
      await messages.write(`There are older ones: --limit lists more than ${limit}\n`);
    } else if (found.length === 0) {
      await messages.write(`No session${all ? "" : " of this directory; --all lists all"}\n`);
    }
    const notice = all ? adviseUnopenable(listed) : await describeUnopenable(store);
    if (notice !== undefined) await messages.write(`${toPlainText(notice)}\n`);
    return ExitCode.ok;
  });
}

/** Finds the sessions with words. */
export async function searchSessions(
  query: string,
  { all, limit, outputFormat }: ListOptions,
  host: Host,
): Promise<ExitCode> {
  return await useStore(host, async (store) => {
    const hits = await store.search(query, { limit, ...(await getDirectoryFilter(all)) });
    const { output, messages } = host.terminal;
    if (outputFormat === "json") await output.write(toJsonLine([...hits]));
    else if (hits.length > 0) await output.write(formatHits(hits, getListOptions(host, all)));
    else {
      const place = all ? "" : " in this directory; --all searches all";
      await messages.write(`No session has these words${place}\n`);
    }
    return ExitCode.ok;
  });
}

/** Prints a session as Markdown, or writes it as a web page to a file or, for `-`, to standard output. */
export async function showSession(
  id: string,
  html: string | undefined,
  host: Host,
): Promise<ExitCode> {
  return await useSession(id, host, async (session) => {
    const { output } = host.terminal;
    if (html === undefined) await output.write(toPlainText(await exportMarkdown(session)));
    else if (html === "-") await output.write(toPlainText(await exportHtml(session)));
    else await writeFile(html, await exportHtml(session));
    return ExitCode.ok;
  });
}

/** Prints a session as JSON lines. */
export async function exportSession(id: string, host: Host): Promise<ExitCode> {
  return await useSession(id, host, async (session) => {
    await host.terminal.output.write(escapeControls(await exportJsonl(session)));
    return ExitCode.ok;
  });
}

/** Creates a session from a file, or from standard input. */
export async function importSession(
  file: string,
  id: string | undefined,
  host: Host,
): Promise<ExitCode> {
  return await useStore(host, async (store) => {
    const text = file === "-" ? await readInput(host) : readFile(file);
    const { session, damage } = await createFromJsonl(store, text, id === undefined ? {} : { id });
    await session.close();
    if (damage.length > 0) {
      await host.terminal.messages.write(
        `warning: lines that could not be read: ${damage.length}\n`,
      );
    }
    await host.terminal.output.write(`${toPlainText(session.id)}\n`);
    return ExitCode.ok;
  });
}

/** Options of `swink sessions delete`. */
export interface DeleteOptions {
  /** Age of the sessions to delete, in days. */
  readonly olderThan: number | undefined;
  /** Whether to delete without asking. */
  readonly yes: boolean;
}

/**
 * Deletes sessions after a question. One that is open elsewhere does not prevent the deletion of the others.
 *
 * @throws {ConfigurationError} If a session cannot be deleted, after the deletion of the others.
 */
export async function deleteSessions(
  ids: readonly string[],
  { olderThan, yes }: DeleteOptions,
  host: Host,
): Promise<ExitCode> {
  if ((ids.length === 0) === (olderThan === undefined)) {
    throw new UsageError(
      "Name the sessions to delete, or their age",
      "swink sessions delete ID …, or swink sessions delete --older-than DAYS",
    );
  }
  return await useStore(host, async (store) => {
    const sessions = olderThan === undefined
      ? await findSessions(store, ids)
      : await findUnusedSince(store, host.now() - olderThan * DAY_MS);
    if (sessions.length === 0) {
      await host.terminal.messages.write("No session is that old\n");
      return ExitCode.ok;
    }
    const text = formatSessions(sessions, getListOptions(host, true));
    if (!yes && !await confirmDeletion(text, host)) return ExitCode.failed;
    const problems = await deleteAll(store, sessions, host);
    const count = sessions.length - problems.length;
    if (count > 0) await host.terminal.messages.write(`${formatCount(count)} deleted\n`);
    if (problems.length > 0) throw new ConfigurationError(problems.join("\n"));
    return ExitCode.ok;
  });
}

/** Finds sessions, each once: two beginnings may be those of the same id. */
async function findSessions(
  store: FileSessionStore,
  texts: readonly string[],
): Promise<readonly SessionSummary[]> {
  const found = await Promise.all(texts.map((text) => findSession(store, text)));
  return [...new Map(found.map((session) => [session.id, session])).values()];
}

/** Finds the sessions that were last used before a time, and can be opened. */
async function findUnusedSince(
  store: FileSessionStore,
  time: number,
): Promise<readonly SessionSummary[]> {
  const sessions = await listWithoutSubAgents(store);
  return sessions.filter(({ created, updated, problem }) =>
    // A session that cannot be opened may be of a later version, or readable again later. A copy has older entries.
    Math.max(created, updated) < time && problem === undefined
  );
}

/** Deletes sessions. Returns the reasons why some could not be deleted. */
async function deleteAll(
  store: FileSessionStore,
  sessions: readonly SessionSummary[],
  host: Host,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { id } of sessions) {
    try {
      await store.delete(id);
      await deleteChanges(id, host);
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      problems.push(toCliTerms(error.message));
    }
  }
  return problems;
}

/** Deletes the earlier contents of files that a session has changed. */
export async function deleteChanges(id: string, { env }: Pick<Host, "env">): Promise<void> {
  const directory = await getChangeDirectory(requireProgramDirectories("sessions", env), id);
  try {
    await Deno.remove(directory, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Asks whether to delete sessions; `false` if the user cannot be asked. */
async function confirmDeletion(list: string, host: Host): Promise<boolean> {
  const keyboard = findKeyboard(host.terminal);
  if (!keyboard) {
    throw new UsageError(
      "The deletion needs a confirmation",
      "Add --yes to delete without a question.",
    );
  }
  using interrupt = new InterruptHandler(host);
  using input = new TypedInput(keyboard);
  const rows = [
    "? Delete these sessions permanently",
    ...toVisibleText(list).trimEnd().split("\n"),
  ];
  const answer = await askChoice({
    details: toLines(rows),
    message: "Delete? [y]es / [n]o",
    answers: ["yes", "no"],
  }, { host, keyboard, input, signal: interrupt.signal });
  return answer === "yes";
}

function formatCount(count: number): string {
  return count === 1 ? "1 session" : `${count} sessions`;
}

/** Calls `use` with the store of the sessions; its errors end the program. */
async function useStore(
  host: Host,
  use: (store: FileSessionStore) => Promise<ExitCode>,
): Promise<ExitCode> {
  const directories = requireProgramDirectories("sessions", host.env);
  try {
    return await use(new FileSessionStore({ directory: getSessionDirectory(directories) }));
  } catch (error) {
    if (error instanceof SessionError) throw new ConfigurationError(toCliTerms(error.message));
    throw error;
  }
}

/** Calls `use` with a session that is open for reading. */
async function useSession(
  text: string,
  host: Host,
  use: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  return await useStore(host, async (store) => {
    const { id } = await findSession(store, text);
    await using session = await store.open(id, { access: "read" });
    return await use(session);
  });
}

async function getDirectoryFilter(all: boolean): Promise<{ readonly cwd?: string }> {
  return all ? {} : { cwd: await Deno.realPath(Deno.cwd()) };
}

function getListOptions(host: Host, all: boolean): SessionListOptions {
  return {
    ...getTableOptions(host),
    now: host.now(),
    home: host.env("HOME"),
    hasDirectories: all,
  };
}

function readFile(path: string): string {
  try {
    return readTextFile(path, MAX_IMPORT_BYTES);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${getFileProblem(error)}`);
  }
}

async function writeFile(path: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(path, text);
  } catch (error) {
    throw new ConfigurationError(`${path} cannot be written: ${getFileProblem(error)}`);
  }
}

async function readInput({ terminal }: Host): Promise<string> {
  const limit = new LimitedBytesTransformStream(MAX_IMPORT_BYTES, { error: true });
  try {
    return await toText(terminal.input.bytes.pipeThrough(limit));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UsageError(`Standard input is larger than ${MAX_IMPORT_BYTES / 1_000_000} MB`);
  }
}
