/**
 * Records an agent into a new session.
 *
 * @module
 */

import type { Agent } from "../../src/agent/agent.ts";
import { SessionError } from "../../src/core/errors/errors.ts";
// Not mod.ts, which loads modules that a run does not need.
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { recordSession } from "../../src/memory/recording/record_session.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { getFileProblem } from "../host/file_problem.ts";
import { toCliTerms } from "../render/error_text.ts";
import { LastFailure } from "./last_failure.ts";
import type { NewSessionOptions, RunSessionOptions, StartedRecording } from "./run_session.ts";
import { NAMED_ADVICE } from "./session_choice.ts";
import { getSessionDirectory } from "./session_directory.ts";
import { recordServer, type SessionServer } from "./session_server.ts";

/** Options for `startRecording()`. */
export interface RecordingOptions extends NewSessionOptions {
  /** The server that an option names. */
  readonly server: SessionServer | undefined;
}

/** The reasons why an id cannot be that of a new session. */
const TAKEN: readonly string[] = ["locked", "already_exists"];

/** Opens the store of the user's sessions. */
export function openStore({ directories }: RunSessionOptions): FileSessionStore {
  return new FileSessionStore({ directory: getSessionDirectory(directories) });
}

/**
 * Records an agent into a new session. One that cannot be written must not prevent a run, so that is a warning.
 *
 * @throws {ConfigurationError} If another program has just created a session with the id.
 */
export async function startRecording(
  agent: Agent,
  { id, server, ...options }: RecordingOptions,
): Promise<StartedRecording> {
  try {
    const cwd = await Deno.realPath(options.cwd);
    const failure = new LastFailure();
    const recording = await recordSession(agent, openStore(options), {
      id,
      cwd,
      onError: failure.set,
    });
    recordServer(recording.session, server);
    return {
      id: recording.session.id,
      recording,
      warnings: [],
      stop: () => failure.finish(recording.stop()),
      takeFailure: failure.take,
    };
  } catch (error) {
    if (error instanceof SessionError && TAKEN.includes(error.reason)) {
      throw new ConfigurationError(toCliTerms(error.message), NAMED_ADVICE);
    }
    return {
      warnings: [`the session is not saved: ${getFileProblem(error)}`],
      stop: () => Promise.resolve(),
      takeFailure: () => undefined,
    };
  }
}
