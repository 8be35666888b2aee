/**
 * Temporary directories, and git commands in them.
 *
 * @module
 */

import { dirname, join } from "node:path";

/** A temporary directory. Disposing of it removes it. */
export interface TemporaryDirectory extends AsyncDisposable {
  /** Absolute path. */
  readonly path: string;
  /** Reads a file. */
  read(name: string): string;
  /** Writes a file, with the given mode; a program can be started at once. */
  write(name: string, content: string | Uint8Array, mode?: number): void;
}

/** Creates a temporary directory with files. */
export async function createTemporaryDirectory(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<TemporaryDirectory> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink test " }));
  const directory: TemporaryDirectory = {
    path,
    read: (name) => Deno.readTextFileSync(join(path, name)),
    write(name, content, mode) {
      const file = join(path, name);
      Deno.mkdirSync(dirname(file), { recursive: true });
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const isProgram = ((mode ?? 0) & 0o111) !== 0;
      // A process that another test starts meanwhile inherits the file opened for writing until it executes its own program,
      // and Linux does not execute such files.
      if (isProgram && Deno.build.os !== "windows") writeInProcess(file, bytes);
      else Deno.writeFileSync(file, bytes);
      if (mode !== undefined) Deno.chmodSync(file, mode);
    },
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
  for (const [name, content] of Object.entries(files)) directory.write(name, content);
  return directory;
}

/** Writes a file that this process never opens. */
function writeInProcess(file: string, bytes: Uint8Array): void {
  const octal = Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  const { success } = new Deno.Command("sh", {
    args: ["-c", 'printf "$1" > "$2"', "sh", octal, file],
  }).outputSync();
  if (!success) throw new Error(`cannot write ${file}`);
}

/** Runs git in a directory without user settings. Returns its output; rejects if it fails. */
export async function runGit(directory: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args],
    cwd: directory,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_CEILING_DIRECTORIES: "/" },
    stdin: "null",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`git ${args.join(" ")}: ${err}${out}`);
  return out ?? "";
}
