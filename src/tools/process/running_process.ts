/**
 * Processes that run in a group of their own, so that they end together.
 *
 * @module
 */

/** What to start. */
export interface Launch {
  /** The program: a path, or a name that is looked up in `PATH`. */
  readonly program: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Where it starts. */
  readonly cwd: string;
  /** Its whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** What it reads from its standard input. Default: nothing, at once at the end. */
  readonly input?: string;
}

/** How a process ended. */
export interface ProcessExit {
  /** The exit code; 128 and the signal's number when a signal ended it. */
  readonly code: number;
  /** The signal that ended it. */
  readonly signal: string | null;
}

/** A process that was started. */
export interface RunningProcess {
  /** Id of the process, and of its group. */
  readonly pid: number;
  /** What it writes to its standard output. */
  readonly output: ReadableStream<Uint8Array>;
  /** Settles when the process itself has ended, whatever it left behind. */
  readonly exited: Promise<ProcessExit>;
  /** Ends the whole group: asks first (SIGTERM), insists after the grace (SIGKILL). */
  terminate(graceMs: number): Promise<void>;
}

/** Starts a process in a session of its own, without a terminal and without the environment of this program. */
export function startProcess(launch: Launch): RunningProcess {
  const { program, args, cwd, env, input } = launch;
  const child = new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { ...env },
    clearEnv: true,
    detached: true,
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    // A shell command sends its errors to its output (see shell_command.ts); what a failed start says is rare.
    stderr: "null",
  }).spawn();
  if (input !== undefined) void writeInput(child.stdin, input);
  const exited = child.status.then(({ code, signal }) => ({ code, signal }));
  return {
    pid: child.pid,
    output: child.stdout,
    exited,
    terminate: (graceMs) => terminateGroup(child.pid, exited, graceMs),
  };
}

async function writeInput(stdin: WritableStream<Uint8Array>, input: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  } catch {
    // A process that ends without reading its input has lost nothing that it wanted.
  }
}

/** What lies in the group after its leader has ended gets this long to end by itself. */
const ORPHAN_GRACE_MS = 20;

async function terminateGroup(
  pid: number,
  exited: Promise<ProcessExit>,
  graceMs: number,
): Promise<void> {
  if (!signalGroup(pid, "SIGTERM")) return;
  const leaderEnded = await settlesWithin(graceMs, exited);
  if (leaderEnded) await delay(Math.min(ORPHAN_GRACE_MS, graceMs));
  signalGroup(pid, "SIGKILL");
  await exited;
}

/** Sends a signal to a group; `false` when there is nobody left. */
function signalGroup(pid: number, signal: Deno.Signal): boolean {
  try {
    Deno.kill(Deno.build.os === "windows" ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether a promise settles within a time. */
export async function settlesWithin(
  milliseconds: number,
  promise: Promise<unknown>,
): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
