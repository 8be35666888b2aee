/**
 * The files of a sandbox as an editor has them, also those that are not saved.
 *
 * @module
 */

import { AbortedError } from "../../src/core/errors/errors.ts";
import type { AcpClient } from "../../src/protocols/acp/mod.ts";
import type { DirectoryEntry, SandboxFiles } from "../../src/tools/mod.ts";

/** Files that the editor reads and writes. */
export type EditorFiles = Pick<AcpClient, "readTextFile" | "writeTextFile">;

/** Time after which an editor that does not answer is not waited for. */
const TIMEOUT_MS = 10_000;

/**
 * Reads and writes texts through an editor, after the sandbox has checked the path. Where the editor fails, and for files
 * that are no text, the files on disk are used.
 */
export class ClientFiles implements SandboxFiles {
  readonly #files: SandboxFiles;
  readonly #editor: EditorFiles;

  constructor(files: SandboxFiles, editor: EditorFiles) {
    this.#files = files;
    this.#editor = editor;
  }

  async readIfExists(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array | undefined> {
    const saved = await this.#files.readIfExists(path, options);
    const text = saved && decode(saved);
    if (text === undefined) return saved;
    const canonical = await this.#files.resolve(path, "read");
    const edited = await this.#readFromEditor(canonical, options.signal);
    // Editors have other line breaks and no byte order mark.
    if (edited === undefined || normalize(edited) === normalize(text)) return saved;
    const bytes = new TextEncoder().encode(edited);
    return bytes.length <= options.maxBytes ? bytes : saved;
  }

  async write(
    path: string,
    bytes: Uint8Array,
    options?: { readonly mode?: number; readonly signal?: AbortSignal },
  ): Promise<void> {
    const { writeTextFile } = this.#editor;
    const text = decode(bytes);
    // A new file is created here, so that it gets its mode and missing directories.
    if (!writeTextFile || text === undefined || await this.#files.getKind(path) !== "file") {
      return await this.#files.write(path, bytes, options);
    }
    const canonical = await this.#files.resolve(path, "write");
    await within(TIMEOUT_MS, writeTextFile(canonical, text), options?.signal).catch(() => {});
    if (options?.signal?.aborted) {
      throw new AbortedError("The tool call was cancelled while the editor wrote the file");
    }
    const saved = await this.#files.readIfExists(path, { maxBytes: bytes.length + MAX_ADDED_BYTES })
      .catch(() => undefined);
    if (saved && normalize(decode(saved) ?? "") === normalize(text)) return;
    await this.#files.write(path, bytes, options);
  }

  resolve(path: string, access: Parameters<SandboxFiles["resolve"]>[1]): Promise<string> {
    return this.#files.resolve(path, access);
  }

  toDisplayPath(path: string): string {
    return this.#files.toDisplayPath(path);
  }

  remove(path: string): Promise<void> {
    return this.#files.remove(path);
  }

  removeDirectory(path: string): Promise<boolean> {
    return this.#files.removeDirectory?.(path) ?? Promise.resolve(false);
  }

  readDirectory(path: string): Promise<DirectoryEntry[]> {
    return this.#files.readDirectory(path);
  }

  getKind(path: string): ReturnType<SandboxFiles["getKind"]> {
    return this.#files.getKind(path);
  }

  /** Returns the text of the editor; `undefined` if it has none, or does not answer. */
  async #readFromEditor(path: string, signal?: AbortSignal): Promise<string | undefined> {
    const { readTextFile } = this.#editor;
    if (!readTextFile) return undefined;
    return await within(TIMEOUT_MS, readTextFile(path), signal).catch(() => undefined);
  }
}

/** Bytes by which an editor may make a text longer, such as carriage returns. */
const MAX_ADDED_BYTES = 10_000_000;

/** Returns the text of a file; `undefined` if it is no text in UTF-8. */
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function normalize(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Rejects after a time, or when a signal is aborted. */
async function within<Value>(
  milliseconds: number,
  promise: Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  const timeout = Promise.withResolvers<never>();
  const stop = () => timeout.reject(new Error("The editor did not answer"));
  const timer = setTimeout(stop, milliseconds);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  try {
    return await Promise.race([promise, timeout.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
