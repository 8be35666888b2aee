/**
 * The file access of cassettes, and its implementation over `node:fs`.
 *
 * @module
 */

/** The path of a file, or its `file:` URL. */
export type CassettePath = string | URL;

/** Port: reads and writes cassette files. */
export interface CassetteFiles {
  /** Reads a file as UTF-8; `undefined` if it does not exist. */
  read(path: CassettePath): Promise<string | undefined>;
  /** Replaces a file atomically. Creates it and its directory if they do not exist. */
  replace(path: CassettePath, text: string): Promise<void>;
  /** Appends to a file. */
  append(path: CassettePath, text: string): Promise<void>;
}

/** Prompts are private: only the owner may read and write a cassette. */
const FILE_MODE = 0o600;

/** The file system of this machine. */
export const nodeFiles: CassetteFiles = {
  async read(path) {
    const { readFile, stat } = await import("node:fs/promises");
    try {
      if (!(await stat(path)).isFile()) throw new Error(`"${path}" is not a file`);
      return await readFile(path, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  },
  async replace(path, text) {
    const { mkdir, rename, rm, writeFile } = await import("node:fs/promises");
    const { dirname } = await import("node:path");
    const file = await toNativePath(path);
    const temporaryFile = `${file}.${crypto.randomUUID()}.tmp`;
    await mkdir(dirname(file), { recursive: true });
    try {
      await writeFile(temporaryFile, text, { mode: FILE_MODE, flag: "wx" });
      await rename(temporaryFile, file);
    } catch (error) {
      await rm(temporaryFile, { force: true });
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
