/**
 * The session of a run, as the run uses it.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import type { Agent } from "../../src/agent/agent.ts";
// Not mod.ts, which loads modules that a run does not need.
import type { SessionRecording } from "../../src/memory/recording/session_recording.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import type { SessionServer } from "./session_server.ts";

/** The session of a run. Disposing of it ends the recording. */
export interface RunSession extends AsyncDisposable {
  /** The model of a session that exists. */
  readonly model?: ModelSpec;
  /** The server that an option of its last run named, or of this one once it is attached. Default: none did. */
  readonly server?: SessionServer | undefined;
  /** Whether it is in plan mode. Default: `false`. */
  readonly planMode?: boolean;
  /** Whether the session is created with the first request. Default: `false`. */
  readonly isPending?: boolean;
  /** The recording; `undefined` before it has started, and if the session cannot be written. */
  readonly recording: SessionRecording | undefined;
  /** Restores the session into the agent, and records its runs with the server that an option names. */
  attach(agent: Agent, server?: SessionServer): Promise<void>;
  /** Returns what is known about the recording, which must have been attached; a new session is created at the latest now. */
  describe(): Promise<RecordedSession>;
  /** Returns the error because of which the session could not be written, once; `undefined` if there was none. */
  takeFailure(): Error | undefined;
}

/** A session that is recorded. */
export interface RecordedSession {
  /** Id of the session; `undefined` if it cannot be written. */
  readonly id?: string;
  /** Sentences without a full stop. */
  readonly warnings: readonly string[];
}

/** A recording into a new session. */
export interface StartedRecording extends RecordedSession, Pick<RunSession, "takeFailure"> {
  /** The recording; `undefined` if the session cannot be written. */
  readonly recording?: SessionRecording;
  /** Ends the recording. */
  stop(): Promise<void>;
}

/** The place of the session of a run. */
export interface RunSessionOptions {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** The program's directories. */
  readonly directories: ProgramDirectories;
}

/** Options for a new session. */
export interface NewSessionOptions extends RunSessionOptions {
  /** Id of the session. Default: a new one. */
  readonly id?: string;
  /** Whether it is created before the first request, since another run may create one with its id. Default: `false`. */
  readonly createsAtOnce?: boolean;
}
