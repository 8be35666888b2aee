/**
 * Builds the tree, the summary and the list of damage of a session from the lines of its log.
 *
 * A log can always be opened, unless its version is newer than the supported one: lines that cannot be read are skipped
 * and reported.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { SessionDamage, SessionSummary } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/sessions/session_entry.ts";
import { isMessage } from "../store/entry_check.ts";
import {
  createHeader,
  decodeRecord,
  readHeader,
  restoreContent,
  SESSION_VERSION,
} from "../store/jsonl.ts";
import { SessionTree } from "../store/session_tree.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { LineOffsets } from "./line_offsets.ts";
import { createLogTail, type LogTail } from "./log_file_state.ts";
import type { LogLine } from "./read_lines.ts";

/** The beginning of every line that the store writes. */
const LINE_START = '{"type":"';

/** A character that no text has, unlike the contents of a damaged disk. */
// deno-lint-ignore no-control-regex -- the control characters are what is searched
const CONTROL_CHARACTER = /[\0-\x08\x0e-\x1f]/;

/** Content of a log, or of its beginning. */
export interface LogState {
  /** The header. */
  readonly header: SessionHeader;
  /** The entries. */
  readonly tree: SessionTree;
  /** Offsets of the entries' lines, in the same order. */
  readonly offsets: LineOffsets;
  /** Lines that could not be read. */
  readonly damage: SessionDamage[];
  /** The summary. */
  readonly summary: SessionSummary;
}

/** Options for {@linkcode LogScanner}. */
export interface LogScannerOptions {
  /** Id of the session; an id in the header is ignored, since the file may have been renamed. */
  readonly id: string;
  /** Creation time of a session whose header has none, in milliseconds since the epoch. */
  readonly created: number;
  /** Content of the beginning of the log that is already known; the scanner adds to it. Default: none. */
  readonly state?: LogState | undefined;
}

/** Scans a log line by line. */
export class LogScanner {
  readonly tree: SessionTree;
  readonly offsets: LineOffsets;
  readonly damage: SessionDamage[];
  /** Entries of the scanned lines, each at its position in the tree. */
  readonly entries: (SessionEntry | undefined)[];
  readonly #id: string;
  readonly #created: number;
  #header: SessionHeader | undefined;
  #loggedId: string | undefined;
  #summary: SummaryBuilder | undefined;
  #isFirst: boolean;
  /** Whether a line was valid JSON. */
  #hasRecord = false;
  /** Whether a line was a text that the store does not write. */
  #hasForeignText = false;
  /** Whether a line was no text. */
  #hasNoise = false;
  #version = SESSION_VERSION;
  #isTerminated = true;
  #bytes: number;

  constructor({ id, created, state }: LogScannerOptions) {
    this.#id = id;
    this.#created = created;
    this.#isFirst = state === undefined;
    this.#header = state?.header;
    this.#summary = state && new SummaryBuilder(state.summary);
    this.tree = state?.tree ?? new SessionTree();
    this.offsets = state?.offsets ?? new LineOffsets();
    this.entries = new Array(this.tree.nodes.length);
    this.damage = state?.damage ?? [];
    this.#bytes = state?.summary.bytes ?? 0;
  }

  /** Version of the log format. */
  get version(): number {
    return this.#version;
  }

  /** Whether the log has a readable header. */
  get hasHeader(): boolean {
    return this.#header !== undefined;
  }

  /** The id in the header; `undefined` if the scanned part has none. */
  get loggedId(): string | undefined {
    return this.#loggedId;
  }

  /** The end of the scanned part. */
  get tail(): LogTail {
    const { hasHeader } = this;
    return createLogTail(this.#bytes, { hasHeader, isTerminated: this.#isTerminated });
  }

  /** The header; a default one if the log has no readable header. */
  get header(): SessionHeader {
    return this.#header ??
      createHeader({ id: this.#id, created: this.tree.nodes[0]?.timestamp ?? this.#created });
  }

  /** Content of the scanned part. */
  get state(): LogState {
    const { header, tree, offsets, damage } = this;
    // The header may be behind the first entries, if it was written again.
    const { type: _type, version: _version, ...about } = header;
    const summary = { ...this.#getSummaryBuilder().build(this.#bytes), ...about };
    return { header, tree, offsets, damage, summary };
  }

  /**
   * Adds the next line.
   *
   * @throws {SessionError} With the reason `newer_version`.
   */
  addLine(line: LogLine): void {
    this.#isTerminated = line.isTerminated;
    this.#bytes = line.offset + line.length + (line.isTerminated ? 1 : 0);
    const value = this.#parse(line);
    if (value === undefined) return;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    this.#hasRecord ||= isJsonObject(value);
    if (isJsonObject(value) && value["type"] === "session") return this.#addHeader(value, line);
    if (isFirst) this.#startWithoutHeader(value, line);
    if (this.#version === 0) this.#addMessage(value, line);
    else this.#addEntry(value, line);
  }

  /**
   * Checks that the scanned lines are not those of another program.
   *
   * @throws {SessionError} With the reason `not_a_session` if they are JSON or text, and none is a header or an entry.
   */
  assertOwnFormat(): void {
    if (this.#header || this.tree.nodes.length > 0) return;
    const isText = this.#hasForeignText && !this.#hasNoise;
    if (this.#hasRecord || isText) throw createForeignLogError(this.#id);
  }

  #parse(line: LogLine): unknown {
    const { text, isTerminated } = line;
    // Most lines begin with a brace; checking that first avoids trimming them.
    if (text !== undefined && !text.startsWith("{") && text.trim() === "") return undefined;
    try {
      if (text !== undefined) return JSON.parse(text);
    } catch {
      // Reported below.
    }
    if (text === undefined || CONTROL_CHARACTER.test(text)) this.#hasNoise = true;
    // Of a line that was cut, only the beginning of that may be there.
    else if (!LINE_START.startsWith(text.slice(0, LINE_START.length))) this.#hasForeignText = true;
    this.#reportDamage(isTerminated ? "broken_line" : "torn_tail", line);
    return undefined;
  }

  #addHeader(record: JsonObject, line: LogLine): void {
    const { version, created, id } = record;
    if (typeof version === "number" && version > SESSION_VERSION) {
      if (typeof created !== "number") throw createForeignLogError(this.#id);
      throw new SessionError(
        `Cannot open the session "${this.#id}": it has version ${version}, and this program supports ` +
          `versions up to ${SESSION_VERSION}: update the program`,
        { reason: "newer_version" },
      );
    }
    if (this.#header) return this.#reportDamage("broken_entry", line);
    this.#loggedId = typeof id === "string" ? id : undefined;
    this.#header = readHeader(record, { id: this.#id, created: this.#created });
  }

  #startWithoutHeader(value: unknown, line: LogLine): void {
    if (isMessage(value)) this.#version = 0;
    else this.#reportDamage("broken_header", line);
  }

  #addMessage(value: unknown, line: LogLine): void {
    if (!isMessage(value)) return this.#reportDamage("broken_entry", line);
    const message = value as AgentMessage;
    const id = `m${this.tree.nodes.length + 1}`;
    const { timestamp } = message;
    this.#insertEntry(
      { type: "message", message, id, parentId: this.tree.leafId, timestamp },
      line,
    );
  }

  #addEntry(value: unknown, line: LogLine): void {
    const decoded = decodeRecord(value);
    if (!decoded) return this.#reportDamage("broken_entry", line);
    if (decoded.type !== "referring") return this.#insertEntry(decoded, line);
    const find = (id: string) => this.entries[this.tree.findPosition(id)];
    const isComplete = decoded.sources.every(find);
    const count = this.entries.length;
    this.#insertEntry(restoreContent(decoded, find), line);
    // An entry whose content is in a line that was not scanned is restored when it is read.
    if (!isComplete && this.entries.length > count) this.entries[count] = undefined;
  }

  #insertEntry(entry: SessionEntry, line: LogLine): void {
    const { type, id, parentId, timestamp } = entry;
    // As the last entry, a copy of an old line would be the leaf and hide all entries after the original.
    if (this.#hasEntry(entry)) return this.#reportDamage("duplicate_id", line, id);
    const { node, repairs } = this.tree.addRepaired({ type, id, parentId, timestamp });
    for (const repair of repairs) this.#reportDamage(repair, line, node.id);
    this.offsets.add(line.offset, line.length);
    const placed = repairs.length === 0
      ? entry
      : { ...entry, id: node.id, parentId: node.parentId };
    this.entries.push(placed);
    this.#getSummaryBuilder().add(placed);
  }

  #hasEntry({ type, id, parentId, timestamp }: SessionEntry): boolean {
    const node = this.tree.nodes[this.tree.findPosition(id)];
    return node?.type === type && node.parentId === parentId && node.timestamp === timestamp;
  }

  #getSummaryBuilder(): SummaryBuilder {
    this.#summary ??= SummaryBuilder.from(this.header);
    return this.#summary;
  }

  #reportDamage(type: SessionDamage["type"], line: LogLine, entryId?: string): void {
    const { offset, length } = line;
    this.damage.push({ type, offset, length, ...(entryId !== undefined && { entryId }) });
  }
}

function createForeignLogError(id: string): SessionError {
  return new SessionError(
    `Cannot open the session "${id}": another program wrote its file: move it to another directory, or convert it ` +
      "to a list of messages and import it",
    { reason: "not_a_session" },
  );
}
