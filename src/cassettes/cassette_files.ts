/**
 * The one file through which cassettes reach the disk.
 *
 * @module
 */

/** The path of a file, or its `file:` address. */
export type CassettePath = string | URL;

/** Port: where cassettes are kept. */
export interface CassetteFiles {
  /** Reads a file; `undefined` when there is none. */
  read(path: CassettePath): Promise<string | undefined>;
  /** Replaces a file as a whole, or not at all; makes it, and its folder, when there is none. */
  replace(path: CassettePath, text: string): Promise<void>;
  /** Adds to the end of a file. */
  append(path: CassettePath, text: string): Promise<void>;
}

/** What an agent was told is nobody else's business. */
const PRIVATE_MODE = 0o600;

/** The disk of this machine. */
export const nodeFiles: CassetteFiles = {
  async read(path) {
    const { readFile, stat } = await import("node:fs/promises");
    try {
      if (!(await stat(path)).isFile()) throw new Error(`"${path}" is not a file`);
      return await readFile(path, "utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  async replace(path, text) {
    const { mkdir, rename, rm, writeFile } = await import("node:fs/promises");
    const { dirname } = await import("node:path");
    const file = await toNativePath(path);
    const beside = `${file}.${crypto.randomUUID()}.tmp`;
    await mkdir(dirname(file), { recursive: true });
    try {
      await writeFile(beside, text, { mode: PRIVATE_MODE, flag: "wx" });
      await rename(beside, file);
    } catch (error) {
      await rm(beside, { force: true });
      throw error;
    }
  },
  async append(path, text) {
    const { appendFile } = await import("node:fs/promises");
    await appendFile(path, text);
  },
};

async function toNativePath(path: CassettePath): Promise<string> {
  if (typeof path === "string") return path;
  const { fileURLToPath } = await import("node:url");
  return fileURLToPath(path);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
