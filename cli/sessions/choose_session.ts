/**
 * The question which session to continue.
 *
 * @module
 */

import { SessionError } from "../../src/core/errors/errors.ts";
// Not mod.ts, which loads modules that the question does not need.
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import type { SessionSummary } from "../../src/memory/mod.ts";
import { listWithoutSubAgents } from "../../src/memory/store/sub_agent_link.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";
import { createNoHomeError, type ProgramDirectories } from "../host/program_directories.ts";
import { findKeyboard, type Input } from "../host/terminal.ts";
import { askChoice } from "../questions/ask_choice.ts";
import { TypedInput } from "../questions/typed_input.ts";
import { getPlainStyle } from "../render/style.ts";
import { formatTable } from "../render/table.ts";
import { createNoSessionError } from "./find_session.ts";
import { getSessionDirectory } from "./session_directory.ts";
import { formatAge, formatMessages, getSessionTitle } from "./session_list.ts";
import { describeUnopenable } from "./unopenable_sessions.ts";

/** Options for `chooseSession()`. */
export interface SessionQuestionOptions {
  /** Absolute path of the working directory, without links. */
  readonly cwd: string;
  /** The program's directories. */
  readonly directories: ProgramDirectories | undefined;
  /** Closes the question. */
  readonly signal: AbortSignal;
}

/** A session has one digit as its key. */
const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"] as const;

const INDENT = "  ";

/** Maximum number of sessions that are offered; `swink sessions search` finds older ones. */
const MAX_SESSIONS = 90;

/** Maximum number of sessions in a message. */
const MAX_LISTED = 10;

/**
 * Asks which session of a directory to continue.
 *
 * @returns The id of the session; `undefined` if the user wants none, or the signal was aborted.
 * @throws {UsageError} If the directory has no session, or the user cannot be asked.
 * @throws {ConfigurationError} If the sessions cannot be read, or there is no home directory.
 */
export async function chooseSession(
  { cwd, directories, signal }: SessionQuestionOptions,
  host: Pick<Host, "terminal" | "env" | "now">,
): Promise<string | undefined> {
  if (!directories) throw createNoHomeError("sessions");
  const { sessions, notice } = await listSessions(cwd, directories);
  if (sessions.length === 0) throw createNoSessionError(cwd);
  const keyboard = findKeyboard(host.terminal);
  if (!keyboard) throw createNoTerminalError(sessions, host);
  using input = new TypedInput(keyboard);
  return await askForSession(sessions, { keyboard, input, signal, host, notice });
}

interface OfferedSessions {
  readonly sessions: readonly SessionSummary[];
  /** Line about the sessions that cannot be opened; `undefined` if there are none. */
  readonly notice: string | undefined;
}

async function listSessions(
  cwd: string,
  directories: ProgramDirectories,
): Promise<OfferedSessions> {
  const store = new FileSessionStore({ directory: getSessionDirectory(directories) });
  try {
    const sessions = await listWithoutSubAgents(store, { cwd, limit: MAX_SESSIONS });
    return { sessions, notice: await describeUnopenable(store) };
  } catch (error) {
    if (error instanceof SessionError) throw new ConfigurationError(error.message);
    throw error;
  }
}

/** Lists what the user can select, since there is no terminal to select on. */
function createNoTerminalError(
  sessions: readonly SessionSummary[],
  { now }: Pick<Host, "now">,
): UsageError {
  const listed = sessions.slice(0, MAX_LISTED).map((
    session,
  ) => [session.id, ...describe(session, now())]);
  const others = sessions.length > listed.length ? "\nAll sessions: swink sessions list" : "";
  return new UsageError(
    "--resume needs the id of a session, because there is no terminal to choose one",
    `The last sessions of this directory:\n${
      formatTable(listed, { columns: Infinity, style: getPlainStyle() }).trimEnd()
    }${others}`,
  );
}

function describe(session: SessionSummary, now: number): string[] {
  return [
    formatAge(now - session.updated),
    formatMessages(session.messages),
    getSessionTitle(session),
  ];
}

/** Offers the sessions, nine at a time. */
async function askForSession(
  sessions: readonly SessionSummary[],
  { host, notice, ...context }: Pick<OfferedSessions, "notice"> & {
    readonly keyboard: Input;
    readonly input: TypedInput;
    readonly signal: AbortSignal;
    readonly host: Pick<Host, "terminal" | "env" | "now">;
  },
): Promise<string | undefined> {
  for (let start = 0;; start += DIGITS.length) {
    const offered = sessions.slice(start, start + DIGITS.length);
    const digits = DIGITS.slice(0, offered.length);
    const hasOlder = sessions.length > start + offered.length;
    const answer = await askChoice({
      details: formatOffer(offered, { host, notice: hasOlder ? undefined : notice }),
      message: `Session? ${formatDigits(digits)}${hasOlder ? " / [o]lder" : ""} / [q]uit`,
      answers: [...digits, ...(hasOlder ? ["older"] as const : []), "quit"] as const,
    }, { host, ...context });
    if (answer !== "older") return offered[Number(answer) - 1]?.id;
  }
}

function formatDigits(digits: readonly string[]): string {
  return digits.length > 1 ? `[1]–[${digits.length}]` : "[1]";
}

function formatOffer(
  offered: readonly SessionSummary[],
  { host: { terminal: { columns }, now }, notice }: {
    readonly host: Pick<Host, "terminal" | "now">;
    readonly notice: string | undefined;
  },
): { readonly text: string; readonly paint: (row: string) => string }[] {
  const rows = offered.map((session, index) => [`${index + 1}`, ...describe(session, now())]);
  const table = formatTable(rows, { columns: columns - INDENT.length, style: getPlainStyle() });
  const lines = [...table.trimEnd().split("\n"), ...(notice === undefined ? [] : [notice])]
    .map((line) => INDENT + line);
  return ["? Sessions, the last one first:", ...lines]
    .map((text) => ({ text, paint: (row) => row }));
}
