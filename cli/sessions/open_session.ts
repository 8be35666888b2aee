/**
 * Opens the session that a run continues.
 *
 * @module
 */

import { SessionError } from "../../src/core/errors/errors.ts";
import type { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { type ResumedSession, resumeSession } from "../../src/memory/recording/resume.ts";
import type { SessionRecording } from "../../src/memory/recording/session_recording.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { importLate } from "../host/import_late.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import { toCliTerms } from "../render/error_text.ts";
import type { ChangeCopy } from "./copy_changes.ts";
import { findLastSession, findSession, findUnopenableWarning } from "./find_session.ts";
import { LastFailure } from "./last_failure.ts";
import { NewSession } from "./new_session.ts";
import type { RunSession, RunSessionOptions } from "./run_session.ts";
import { FORK_ADVICE, NAMED_ADVICE, type SessionChoice } from "./session_choice.ts";
import { getChangeDirectory } from "./session_directory.ts";
import { findSessionServer, findStoredServer, recordServer } from "./session_server.ts";
import { openStore } from "./start_recording.ts";

/** The kinds of damage of lines that cannot be read. */
const MISSING: readonly ResumedSession["damage"][number]["type"][] = [
  "torn_tail",
  "broken_line",
  "broken_entry",
];

/**
 * Opens the session that the options select.
 *
 * @throws {UsageError} If the session does not exist.
 * @throws {ConfigurationError} If the session is open elsewhere or cannot be read.
 */
export async function openRunSession(
  choice: Exclude<SessionChoice, { readonly type: "none" | "new" }>,
  options: RunSessionOptions,
): Promise<RunSession> {
  const store = openStore(options);
  try {
    switch (choice.type) {
      case "named":
        return await resume(store, choice.id, { ...options, fork: false });
      case "last":
        return await resumeLast(store, { ...options, fork: choice.fork });
      case "existing":
        return await resume(store, (await findSession(store, choice.id)).id, {
          ...options,
          fork: choice.fork,
        });
    }
  } catch (error) {
    const isMissing = error instanceof SessionError && error.reason === "not_found";
    if (choice.type === "named" && isMissing) {
      return new NewSession({ ...options, id: choice.id, createsAtOnce: true });
    }
    throw toConfigurationError(error, choice.type === "named" ? NAMED_ADVICE : FORK_ADVICE);
  }
}

interface ResumeOptions extends RunSessionOptions {
  readonly fork: boolean;
  /** Warnings about the choice of the session. Default: none. */
  readonly choiceWarnings?: readonly string[];
}

async function resumeLast(store: FileSessionStore, options: ResumeOptions): Promise<RunSession> {
  const id = await findLastSession(store, await Deno.realPath(options.cwd));
  const warning = await findUnopenableWarning(store, id);
  return await resume(store, id, { ...options, choiceWarnings: warning ? [warning] : [] });
}

async function resume(
  store: FileSessionStore,
  id: string,
  { fork, directories, choiceWarnings = [] }: ResumeOptions,
): Promise<RunSession> {
  // A copy has only the entries of one path, on which a rewind may have left none with the server.
  const original = fork ? await findStoredServer(store, id) : undefined;
  const resumed = await resumeSession(store, id, { fork });
  const copyWarnings = fork
    ? await copyFileChanges(directories, { from: id, to: resumed.session.id })
    : [];
  let stop = async () => {
    await resumed.session.close();
    // A copy that no agent has continued, such as when the run could not start, is of no use.
    if (fork) await deleteCopy(store, resumed.session.id, directories);
  };
  let warnings: readonly string[] = [];
  let recording: SessionRecording | undefined;
  const failure = new LastFailure();
  const ownServer = await findSessionServer(store, resumed.session);
  let lastServer = fork ? original : ownServer;
  return {
    get recording() {
      return recording;
    },
    ...(resumed.model && { model: resumed.model }),
    get server() {
      return lastServer;
    },
    planMode: resumed.planMode,
    async attach(agent, server) {
      const started = await resumed.into(agent, { onError: failure.set });
      recordServer(started.session, server, ownServer);
      lastServer = server;
      recording = started;
      stop = () => failure.finish(started.stop());
      warnings = [
        ...choiceWarnings,
        ...listWarnings(resumed, started.missingTools),
        ...copyWarnings,
      ];
    },
    takeFailure: failure.take,
    describe: () => Promise.resolve({ id: resumed.session.id, warnings }),
    async [Symbol.asyncDispose]() {
      const stopOnce = stop;
      stop = () => Promise.resolve();
      recording = undefined;
      await stopOnce();
    },
  };
}

async function copyFileChanges(
  directories: ProgramDirectories,
  copy: ChangeCopy,
): Promise<string[]> {
  const { copyChanges } = await importLate<typeof import("./copy_changes.ts")>(
    "./copy_changes.ts",
    import.meta.url,
  );
  const problem = await copyChanges(directories, copy);
  if (problem === undefined) return [];
  return [`the file changes before the copy cannot be undone in it: ${problem}`];
}

async function deleteCopy(
  store: FileSessionStore,
  id: string,
  directories: ProgramDirectories,
): Promise<void> {
  await store.delete(id).catch(() => {});
  const changes = await getChangeDirectory(directories, id);
  await Deno.remove(changes, { recursive: true }).catch(() => {});
}

function listWarnings(
  { damage, repairs }: ResumedSession,
  missingTools: readonly string[],
): string[] {
  return [
    ...describeDamage(damage),
    ...(repairs.length > 0 ? ["the history of the session was incomplete and is repaired"] : []),
    ...(missingTools.length > 0
      ? [`the session had tools that this run does not have: ${missingTools.join(", ")}`]
      : []),
  ];
}

/** Describes the damage of a log: the lines that it lacks or, without such, those that are read differently. */
function describeDamage(damage: ResumedSession["damage"]): string[] {
  const missing = damage.filter(({ type }) => MISSING.includes(type)).length;
  if (missing > 0) return [`${formatLines(missing)} of the session could not be read`];
  return damage.length > 0
    ? [`${formatLines(damage.length)} of the session had to be repaired`]
    : [];
}

function formatLines(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}

function toConfigurationError(error: unknown, lockedAdvice: string): unknown {
  if (!(error instanceof SessionError)) return error;
  const advice = error.reason === "locked" ? lockedAdvice : "";
  return new ConfigurationError(toCliTerms(error.message), advice);
}
