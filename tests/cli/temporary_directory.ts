/**
 * Folders for one test.
 *
 * @module
 */

import { dirname, join } from "node:path";

/** A folder that goes with the test. */
export interface TemporaryDirectory extends AsyncDisposable {
  /** Where it is. */
  readonly path: string;
  /** Reads one of its files. */
  read(name: string): string;
  /** Writes one of its files; `mode` as in chmod. */
  write(name: string, content: string | Uint8Array, mode?: number): void;
}

/** Makes a folder with some files. */
export async function createTemporaryDirectory(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<TemporaryDirectory> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "swink test " }));
  const folder: TemporaryDirectory = {
    path,
    read: (name) => Deno.readTextFileSync(join(path, name)),
    write(name, content, mode) {
      const file = join(path, name);
      Deno.mkdirSync(dirname(file), { recursive: true });
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      Deno.writeFileSync(file, bytes);
      if (mode !== undefined) Deno.chmodSync(file, mode);
    },
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
  for (const [name, content] of Object.entries(files)) folder.write(name, content);
  return folder;
}

/** Runs git in a folder, with nobody's settings; gives what it says, and fails where it fails. */
export async function runGit(folder: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args],
    cwd: folder,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_CEILING_DIRECTORIES: "/" },
    stdin: "null",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`git ${args.join(" ")}: ${err}${out}`);
  return out ?? "";
}
