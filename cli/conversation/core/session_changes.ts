/**
 * The file changes of a session, which are kept next to the sessions so that they can be undone after a restart.
 *
 * @module
 */

import { MemoryChangeLogStore } from "../../../src/tools/changes/change_log.ts";
import type {
  ChangeLogEntry,
  ChangeLogStore,
} from "../../../src/tools/changes/change_log_entry.ts";
import { importLate } from "../../host/import_late.ts";
import type { ProgramDirectories } from "../../host/program_directories.ts";
import { copyEntries } from "../../sessions/copy_entries.ts";
import { getChangeDirectory } from "../../sessions/session_directory.ts";

/** Options for {@linkcode SessionChanges}. */
export interface SessionChangesOptions {
  /** The program's directories; without them, changes are kept in memory. */
  readonly directories: ProgramDirectories | undefined;
  /** Returns the id of the session; `undefined` if it is not saved. */
  readonly getSessionId: () => string | undefined;
}

/** The key of the changes before the session was created. */
const UNSAVED = "";

/** The store of the changes of the current session. */
export class SessionChanges implements ChangeLogStore {
  readonly #options: SessionChangesOptions;
  readonly #stores = new Map<string, Promise<ChangeLogStore>>();

  constructor(options: SessionChangesOptions) {
    this.#options = options;
  }

  async saveContent(hash: string, content: Uint8Array): Promise<void> {
    await (await this.#open()).saveContent(hash, content);
  }

  async readContent(hash: string): Promise<Uint8Array | undefined> {
    return await (await this.#open()).readContent(hash);
  }

  async append(entry: ChangeLogEntry): Promise<void> {
    await (await this.#open()).append(entry);
  }

  async entries(): Promise<readonly ChangeLogEntry[]> {
    return await (await this.#open()).entries();
  }

  /** Forgets the changes before the session was created, because another one was opened. */
  forgetUnsaved(): void {
    this.#stores.delete(UNSAVED);
  }

  #open(): Promise<ChangeLogStore> {
    const id = this.#options.getSessionId() ?? UNSAVED;
    const store = this.#stores.get(id) ?? this.#create(id);
    this.#stores.set(id, store);
    return store;
  }

  /** Creates the store of a session, with the changes before the session was created. */
  async #create(id: string): Promise<ChangeLogStore> {
    const unsaved = this.#stores.get(UNSAVED);
    this.#stores.delete(UNSAVED);
    const store = await this.#openStore(id);
    // Without them, only these changes cannot be undone.
    if (unsaved) await copyEntries(await unsaved, store).catch(() => {});
    return store;
  }

  async #openStore(id: string): Promise<ChangeLogStore> {
    const { directories } = this.#options;
    if (!directories || id === UNSAVED) return new MemoryChangeLogStore();
    const { DirectoryChangeLogStore } = await importLate<
      typeof import("../../../src/tools/changes/directory_change_log_store.ts")
    >("../../../src/tools/changes/directory_change_log_store.ts", import.meta.url);
    return new DirectoryChangeLogStore(await getChangeDirectory(directories, id));
  }
}
