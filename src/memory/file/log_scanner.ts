/**
 * Lines become the tree, the summary and the damage of a session.
 *
 * Nothing in a log can stop it from being opened, apart from a version that is newer than this one: what
 * cannot be read is passed over and told.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { SessionDamage, SessionSummary } from "../../core/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import { isMessage } from "../store/entry_check.ts";
import { decodeRecord, restoreContent, SESSION_VERSION } from "../store/jsonl.ts";
import { LineOffsets } from "./line_offsets.ts";
import type { LogLine } from "./read_lines.ts";
import { SessionTree } from "../store/session_tree.ts";
import { SummaryBuilder } from "../store/summary.ts";

/** What is known of a log up to some byte. */
export interface LogState {
  /** The header. */
  readonly header: SessionHeader;
  /** The entries. */
  readonly tree: SessionTree;
  /** Where each of them stands, in the same order. */
  readonly offsets: LineOffsets;
  /** What could not be read. */
  readonly damage: SessionDamage[];
  /** The summary. */
  readonly summary: SessionSummary;
}

/** What a scan begins with. */
export interface LogScannerOptions {
  /** Name of the session; a header that says otherwise belonged to a file of another name. */
  readonly id: string;
  /** When the session began, if its header does not tell. */
  readonly created: number;
  /** What is known of the beginning of the log. */
  readonly state?: LogState | undefined;
}

/** Reads a log line by line. */
export class LogScanner {
  readonly tree: SessionTree;
  readonly offsets: LineOffsets;
  readonly damage: SessionDamage[];
  /** The entries of the lines that were taken, each at its position in the tree. */
  readonly entries: (SessionEntry | undefined)[];
  readonly #id: string;
  readonly #created: number;
  #header: SessionHeader | undefined;
  #summary: SummaryBuilder | undefined;
  #isFirst: boolean;
  #version = SESSION_VERSION;
  #lacksNewline = false;
  #bytes: number;

  /** Begins at the start of a log, or where the known part of it ends. */
  constructor({ id, created, state: known }: LogScannerOptions) {
    this.#id = id;
    this.#created = created;
    this.#isFirst = known === undefined;
    this.#header = known?.header;
    this.#summary = known && new SummaryBuilder(known.summary);
    this.tree = known?.tree ?? new SessionTree();
    this.offsets = known?.offsets ?? new LineOffsets();
    this.entries = new Array(this.tree.nodes.length);
    this.damage = known?.damage ?? [];
    this.#bytes = known?.summary.bytes ?? 0;
  }

  /** Version of the format that the lines are in. */
  get version(): number {
    return this.#version;
  }

  /** Whether the last line has no end. */
  get lacksNewline(): boolean {
    return this.#lacksNewline;
  }

  /** How much of the log was taken, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The header; one made up where the log has none that can be read. */
  get header(): SessionHeader {
    return this.#header ??
      createFallbackHeader(this.#id, this.tree.nodes[0]?.timestamp ?? this.#created);
  }

  /** All that is known of the log now. */
  get state(): LogState {
    const { header, tree, offsets: places, damage } = this;
    const summary = this.#getSummaryBuilder().build(this.#bytes);
    return { header, tree, offsets: places, damage, summary };
  }

  /** Whether there is a header that can be read. */
  get hasHeader(): boolean {
    return this.#header !== undefined;
  }

  /**
   * Takes the next line.
   *
   * @throws {SessionError} With the reason `newer_version`.
   */
  addLine(line: LogLine): void {
    this.#lacksNewline = !line.isTerminated;
    this.#bytes = line.offset + line.length + (line.isTerminated ? 1 : 0);
    const value = this.#parse(line);
    if (value === undefined) return;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isJsonObject(value) && value["type"] === "session") return this.#addHeader(value, line);
    if (isFirst) this.#startWithoutHeader(value, line);
    if (this.#version === 0) this.#addMessage(value, line);
    else this.#addEntry(value, line);
  }

  #parse(line: LogLine): unknown {
    const { text, isTerminated: isEnded } = line;
    if (text !== undefined && isBlank(text)) return undefined;
    try {
      if (text !== undefined) return JSON.parse(text);
    } catch {
      // told below
    }
    this.#reportDamage(isEnded ? "broken_line" : "torn_tail", line);
    return undefined;
  }

  #addHeader(record: JsonObject, line: LogLine): void {
    const { version, created, cwd, parent } = record;
    if (typeof version === "number" && version > SESSION_VERSION) {
      throw new SessionError(
        `The session "${this.#id}" has version ${version}, and this program reads up to version ` +
          `${SESSION_VERSION}: update the program to open it`,
        { reason: "newer_version" },
      );
    }
    if (this.#header) return this.#reportDamage("broken_entry", line);
    this.#header = {
      ...createFallbackHeader(this.#id, typeof created === "number" ? created : this.#created),
      ...(typeof cwd === "string" && { cwd }),
      ...(isParent(parent) && { parent }),
    };
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
    if (decoded.type !== "echo") return this.#insertEntry(decoded, line);
    const source = this.entries[this.tree.positionOf(decoded.contentFrom)];
    this.#insertEntry(source ? restoreContent(decoded.entry, source) : decoded.entry, line);
    // Its content stands before the lines of this scan; it is read when it is asked for.
    if (!source) this.entries[this.entries.length - 1] = undefined;
  }

  #insertEntry(entry: SessionEntry, line: LogLine): void {
    const { type, id, parentId, timestamp } = entry;
    const { node, repairs: mends } = this.tree.addRepaired({ type, id, parentId, timestamp });
    for (const mend of mends) this.#reportDamage(mend, line, node.id);
    this.offsets.add(line.offset, line.length);
    const placed = mends.length === 0 ? entry : { ...entry, id: node.id, parentId: node.parentId };
    this.entries.push(placed);
    this.#getSummaryBuilder().add(placed);
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

/** Most lines begin with a brace, and need no longer look. */
function isBlank(text: string): boolean {
  return !text.startsWith("{") && text.trim() === "";
}

function createFallbackHeader(id: string, created: number): SessionHeader {
  return { type: "session", version: SESSION_VERSION, id, created };
}

function isParent(value: unknown): value is NonNullable<SessionHeader["parent"]> {
  return isJsonObject(value) && typeof value["sessionId"] === "string";
}
