/**
 * The session of a run: found and read before the agent is created, and recorded while the agent runs.
 *
 * @module
 */

import type { Agent } from "../../src/agent/agent.ts";
import type { ModelSpec } from "../../mod.ts";
import { getErrorMessage, SessionError } from "../../src/core/errors.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { recordSession, type SessionRecording } from "../../src/memory/recording/recorder.ts";
import { type ResumedSession, resumeSession } from "../../src/memory/recording/resume.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { createNoHomeError, type ProgramDirectories } from "../host/program_directories.ts";
import { findLastSession, findSession } from "./find_session.ts";
import type { SessionChoice } from "./session_choice.ts";
import { getSessionDirectory } from "./session_directory.ts";

/** A session that is about to be recorded. */
export interface RunSession extends AsyncDisposable {
  /** The model of a session that exists. */
  readonly model?: ModelSpec;
  /** Whether it is in plan mode. Default: `false`. */
  readonly planMode?: boolean;
  /**
   * Restores the session into the agent and records the run.
   *
   * @returns The id of the session, and warnings for the user.
   */
  record(agent: Agent): Promise<RecordedSession>;
}

/** A session that is recorded. */
export interface RecordedSession {
  /** Id of the session; `undefined` if it cannot be written. */
  readonly id?: string;
  /** The recording; `undefined` if the session cannot be written. */
  readonly recording?: SessionRecording;
  /** Sentences without a full stop. */
  readonly warnings: readonly string[];
}

/** Options for `openRunSession()`. */
export interface RunSessionOptions {
  /** Absolute path of the working directory, without links. */
  readonly cwd: string;
  /** The program's directories; without them, nothing is saved. */
  readonly directories: ProgramDirectories | undefined;
}

/** Options for new sessions. */
interface NewSession {
  readonly id?: string;
  readonly cwd: string;
}

/**
 * Opens the session that the options select; `undefined` if the run is not saved.
 *
 * @throws {UsageError} If the session does not exist.
 * @throws {ConfigurationError} If the session is open elsewhere or cannot be read.
 */
export async function openRunSession(
  choice: SessionChoice,
  { cwd, directories }: RunSessionOptions,
): Promise<RunSession | undefined> {
  if (choice.type === "none") return undefined;
  if (!directories) {
    if (choice.type === "new") return undefined;
    throw createNoHomeError("sessions");
  }
  const store = new FileSessionStore({ directory: getSessionDirectory(directories) });
  try {
    switch (choice.type) {
      case "new":
        return createSession(store, { cwd });
      case "named":
        return await openNamed(store, { id: choice.id, cwd });
      case "last":
        return await resume(store, await findLastSession(store, cwd), choice);
      case "existing":
        return await resume(store, (await findSession(store, choice.id)).id, choice);
    }
  } catch (error) {
    throw toConfigurationError(error);
  }
}

async function openNamed(
  store: FileSessionStore,
  { id, cwd }: Required<NewSession>,
): Promise<RunSession> {
  try {
    return await resume(store, id, { fork: false });
  } catch (error) {
    if (error instanceof SessionError && error.reason === "not_found") {
      return createSession(store, { id, cwd });
    }
    throw error;
  }
}

async function resume(
  store: FileSessionStore,
  id: string,
  { fork }: { readonly fork: boolean },
): Promise<RunSession> {
  const resumed = await resumeSession(store, id, { fork });
  let stop = () => resumed.session.close();
  return {
    ...(resumed.model && { model: resumed.model }),
    planMode: resumed.planMode,
    async record(agent) {
      const recording = await resumed.into(agent);
      stop = () => recording.stop();
      const warnings = listWarnings(resumed, recording.missingTools);
      return { id: resumed.session.id, recording, warnings };
    },
    [Symbol.asyncDispose]() {
      const stopOnce = stop;
      stop = () => Promise.resolve();
      return stopOnce();
    },
  };
}

function listWarnings(
  { damage, repairs }: ResumedSession,
  missingTools: readonly string[],
): string[] {
  return [
    ...(damage.length > 0
      ? [`${formatLines(damage.length)} of the session could not be read`]
      : []),
    ...(repairs.length > 0 ? ["the history of the session was incomplete and is repaired"] : []),
    ...(missingTools.length > 0
      ? [`the session had tools that this run does not have: ${missingTools.join(", ")}`]
      : []),
  ];
}

function formatLines(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}

/** A session that cannot be written must not prevent a run that does not continue one. */
function createSession(store: FileSessionStore, options: NewSession): RunSession {
  let stop = () => Promise.resolve();
  return {
    async record(agent) {
      try {
        const recording = await recordSession(agent, store, options);
        stop = () => recording.stop();
        return { id: recording.session.id, recording, warnings: [] };
      } catch (error) {
        return { warnings: [`the session is not saved: ${getErrorMessage(error)}`] };
      }
    },
    [Symbol.asyncDispose]() {
      const stopOnce = stop;
      stop = () => Promise.resolve();
      return stopOnce();
    },
  };
}

function toConfigurationError(error: unknown): unknown {
  if (!(error instanceof SessionError)) return error;
  const advice = error.reason === "locked" ? "Continue in a copy: add --fork." : "";
  return new ConfigurationError(error.message, advice);
}
