/**
 * Lines of an audit log of which each has the hash of the one before.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { isJsonObject } from "../core/json/json.ts";
import { encodeHex } from "../core/text/byte_encoding.ts";
import type { AuditRecord } from "./audit_log.ts";

/** A line of the chain, by its number and hash. */
export interface AuditLink {
  /** Number of the line, from 1. */
  readonly seq: number;
  /** SHA-256 hash of the line, with that of the line before; in hexadecimal. */
  readonly hash: string;
}

/** Options for {@linkcode auditChain}. */
export interface AuditChainOptions {
  /**
   * Writes a line, without a newline at its end; called with one line at a time. If it rejects, nothing of the line may be
   * left in the log.
   */
  readonly write: (line: string) => void | Promise<void>;
  /** The last line of the log that is continued, as `verifyAuditLog()` returns it. Default: the log is empty. */
  readonly last?: AuditLink | undefined;
}

/** A chain of records. */
export interface AuditChain {
  /** The last line that was written; `undefined` if the log is empty. */
  readonly last: AuditLink | undefined;
  /** Writes a record as the next line, after those that are being written; the `write` of an audit log. */
  readonly write: (record: AuditRecord) => Promise<void>;
}

/**
 * Creates a chain, whose lines `verifyAuditLog()` checks. Several audit logs may write to one chain. A line that cannot be
 * written is left out, and the next one follows the last that was written.
 *
 * @throws {BadRequestError} If an option is missing or invalid.
 *
 * @example
 * ```ts
 * import { auditChain, auditLog, verifyAuditLog } from "@swink/agent/policies";
 *
 * const lines: string[] = [];
 * const chain = auditChain({ write: (line) => void lines.push(line) });
 * const policies = [auditLog({ write: chain.write })];
 * await verifyAuditLog(lines); // { type: "valid", last: undefined }
 * ```
 */
export function auditChain(options: AuditChainOptions): AuditChain {
  checkObject(options, "Pass options with a function write");
  checkNames(options, ["write", "last"], "auditChain()");
  const { write } = options;
  if (typeof write !== "function") {
    throw new BadRequestError(`write must be a function, not ${describeValue(write)}`);
  }
  let last = checkLink(options.last);
  let queue: Promise<void> = Promise.resolve();
  const append = async (record: string): Promise<void> => {
    const seq = (last?.seq ?? 0) + 1;
    const { line, hash } = await createLine({ seq, previous: last?.hash ?? "", record });
    await write(line);
    last = { seq, hash };
  };
  return {
    get last(): AuditLink | undefined {
      return last;
    },
    async write(record) {
      // Before the first await, so that later changes of the record are not written.
      const text = serializeRecord(record);
      const appended = queue.then(() => append(text));
      queue = appended.catch(() => {});
      await appended;
    },
  };
}

function serializeRecord(record: AuditRecord): string {
  const text: string | undefined = JSON.stringify(record);
  if (text !== undefined) return text;
  throw new BadRequestError(`An audit record must be a JSON value, not ${describeValue(record)}`);
}

function checkLink(link: AuditLink | undefined): AuditLink | undefined {
  if (link === undefined) return undefined;
  const { seq, hash } = Object(link);
  if (Number.isSafeInteger(seq) && seq > 0 && isHash(hash)) return { seq, hash };
  throw new BadRequestError(`last must be { seq, hash }, not ${describeValue(link)}`);
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** Result of {@linkcode verifyAuditLog}. */
export type AuditVerification =
  /** Every line is as it was written. */
  | { readonly type: "valid"; readonly last: AuditLink | undefined }
  /** A line is not the one that was written at its place; lines are counted from 1. */
  | {
    readonly type: "broken";
    readonly line: number;
    /**
     * `not_a_record`: it has another form than the lines of a chain. `changed`: its hash is not that of its content.
     * `out_of_order`: its number or the hash of the line before is not the expected one, since lines were removed, added,
     * exchanged or come from another log.
     */
    readonly problem: "not_a_record" | "changed" | "out_of_order";
  }
  /** The lines are valid, but the expected one is missing: the end was cut off, or the log is another one. */
  | { readonly type: "cut"; readonly last: AuditLink | undefined };

/** Options for {@linkcode verifyAuditLog}. */
export interface VerifyAuditLogOptions {
  /** A line that the log must have, such as the last one that a session has recorded. Default: none. */
  readonly expected?: AuditLink | undefined;
}

/**
 * Checks the lines of a chain, up to the first that was changed, removed, added or moved. That lines were removed at the
 * end is found with `expected`. Empty lines at the end are ignored.
 *
 * @throws {BadRequestError} If an option is invalid.
 */
export async function verifyAuditLog(
  lines: Iterable<string> | AsyncIterable<string>,
  options: VerifyAuditLogOptions = {},
): Promise<AuditVerification> {
  checkLines(lines);
  checkObject(options, "Pass options such as { expected }");
  checkNames(options, ["expected"], "verifyAuditLog()");
  const expected = checkLink(options.expected);
  let last: AuditLink | undefined;
  let found = expected === undefined;
  let emptyLine: number | undefined;
  let number = 0;
  for await (const line of lines) {
    number++;
    if (typeof line !== "string") return broken(number, "not_a_record");
    if (line === "") {
      emptyLine ??= number;
      continue;
    }
    if (emptyLine !== undefined) return broken(emptyLine, "not_a_record");
    const content = parseLine(line);
    if (!content) return broken(number, "not_a_record");
    const { seq, previous, hash } = content;
    if (await hashText(content.text) !== hash) return broken(number, "changed");
    if (seq !== (last?.seq ?? 0) + 1 || previous !== (last?.hash ?? "")) {
      return broken(number, "out_of_order");
    }
    last = { seq, hash };
    found ||= seq === expected?.seq && hash === expected.hash;
  }
  return { type: found ? "valid" : "cut", last };
}

function checkLines(lines: unknown): void {
  const source = Object(lines);
  if (typeof lines === "object" && (Symbol.iterator in source || Symbol.asyncIterator in source)) {
    return;
  }
  throw new BadRequestError(
    `lines must be a list or a stream of lines, not ${describeValue(lines)}`,
  );
}

type Problem = Extract<AuditVerification, { type: "broken" }>["problem"];

function broken(line: number, problem: Problem): AuditVerification {
  return { type: "broken", line, problem };
}

/** Matches a line: its text up to the hash, and the hash. */
const LINE_PATTERN = /^(\{"seq":.*),"hash":"([0-9a-f]{64})"\}$/s;

interface LineContent {
  readonly seq: number;
  /** Hash of the line before; empty for the first line. */
  readonly previous: string;
  readonly hash: string;
  /** The text that is hashed: the line as it was written, without its hash. */
  readonly text: string;
}

/** The parts of a line that is written. */
interface NewLine extends Pick<LineContent, "seq" | "previous"> {
  /** The record, as JSON. */
  readonly record: string;
}

async function createLine(
  { seq, previous, record }: NewLine,
): Promise<{ readonly line: string; readonly hash: string }> {
  const text = `{"seq":${seq},"previous":"${previous}","record":${record}`;
  const hash = await hashText(`${text}}`);
  return { line: `${text},"hash":"${hash}"}`, hash };
}

async function hashText(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return encodeHex(new Uint8Array(digest));
}

function parseLine(line: string): LineContent | undefined {
  const [, text = "", hash = ""] = LINE_PATTERN.exec(line) ?? [];
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return undefined;
    const { seq, previous, record } = value;
    if (typeof seq !== "number" || typeof previous !== "string" || value.hash !== hash) {
      return undefined;
    }
    return record === undefined ? undefined : { seq, previous, hash, text: `${text}}` };
  } catch {
    return undefined;
  }
}
