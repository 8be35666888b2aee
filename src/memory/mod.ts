/**
 * Sessions that no crash can spoil, and histories that fit the model's window.
 *
 * @module
 */

export type * from "../core/session.ts";
export type * from "../core/session_entry.ts";
export { InMemorySessionStore, type InMemorySessionStoreOptions } from "./in_memory_store.ts";
export { FileSessionStore, type FileSessionStoreOptions } from "./file_store.ts";
export type {
  FileFacts,
  FileSystem,
  GrowingFile,
  LockableFile,
  ReadableFile,
} from "./file_system.ts";
