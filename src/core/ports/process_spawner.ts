/**
 * The port through which a module starts programs that it communicates with, such as servers. A sandbox implements it.
 *
 * @module
 */

/** A program to start. */
export interface ProcessLaunch {
  /** Path of the program, or a name that is looked up in `PATH`. */
  readonly program: string;
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** Working directory. Default: that of the spawner. */
  readonly cwd?: string | undefined;
  /** Environment of the program. A spawner may add variables, but not those of this process. */
  readonly env: Readonly<Record<string, string>>;
}

/** The end of a process. */
export interface ProcessStatus {
  /** Exit code; 128 plus the signal number if a signal ended the process. */
  readonly code: number;
  /** Signal that ended the process, such as `SIGKILL`; `null` if it exited. */
  readonly signal: string | null;
}

/** A started program. */
export interface SpawnedProcess {
  /** Standard input. */
  readonly stdin: WritableStream<Uint8Array<ArrayBuffer>>;
  /** Standard output. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Standard error. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** Resolves when the process itself has ended; its children may still run. */
  readonly exited: Promise<ProcessStatus>;
  /** Ends the process with its children: SIGTERM, then SIGKILL after `graceMs` milliseconds. */
  terminate(graceMs: number): Promise<void>;
}

/** Starts programs. */
export interface ProcessSpawner {
  /** Starts a program. Rejects with the error of the system, for example when the program does not exist. */
  spawn(launch: ProcessLaunch): Promise<SpawnedProcess>;
  /** Resolves with whether a program that is started now cannot reach other machines. Default: it may. */
  isOffline?(): Promise<boolean>;
}
