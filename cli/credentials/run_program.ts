/**
 * Programs that keep or supply keys.
 *
 * @module
 */

/** A program to run. */
export interface ProgramCall {
  /** Name or path of the program, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Text for its standard input. Default: empty. */
  readonly input?: string;
  /** Environment variables, in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Time after which the program is killed, in milliseconds. */
  readonly timeoutMs: number;
}

/** The end of a program. */
export type ProgramResult =
  | {
    readonly type: "ended";
    readonly code: number;
    readonly output: string;
    /** The first line of its standard error. */
    readonly message: string;
  }
  | { readonly type: "missing" }
  | { readonly type: "timeout" };

/** Maximum length of the output that is read: a key is short. */
const MAX_OUTPUT = 100_000;

/** Runs a program to its end. */
export async function runProgram(
  { command: [program, ...args], input = "", env = {}, timeoutMs }: ProgramCall,
): Promise<ProgramResult> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    await using process = new Deno.Command(program, {
      args,
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const kill = () => {
      try {
        process.kill("SIGKILL");
      } catch {
        // It has ended.
      }
    };
    timeout.addEventListener("abort", kill, { once: true });
    const [output, errors, { code }] = await Promise.all([
      readText(process.stdout),
      readText(process.stderr),
      process.status,
      writeText(process.stdin, input),
    ]);
    timeout.removeEventListener("abort", kill);
    if (timeout.aborted) return { type: "timeout" };
    return { type: "ended", code, output, message: errors.trim().split("\n", 1)[0] ?? "" };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { type: "missing" };
    if (error instanceof Deno.errors.PermissionDenied) return { type: "missing" };
    throw error;
  }
}

async function writeText(stream: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stream.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // The program ended without reading its input.
  }
}

/** Reads a stream to its end, and keeps its beginning. */
async function readText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    if (text.length < MAX_OUTPUT) text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

/** Returns the reason why a program failed, as a sentence without a full stop. */
export function describeFailure(
  { command: [program] }: Pick<ProgramCall, "command">,
  result: ProgramResult,
): string {
  switch (result.type) {
    case "missing":
      return `${program} is not installed`;
    case "timeout":
      return `${program} did not answer`;
    case "ended": {
      const reason = result.message === "" ? "" : `: ${result.message}`;
      return `${program} failed with exit code ${result.code}${reason}`;
    }
  }
}
