/**
 * Redacts the texts of headers and entries for exports.
 *
 * @module
 */

import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { MAX_ENTRY_DEPTH } from "../store/entry_check.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** Properties that define the structure of an entry. */
const STRUCTURAL_KEYS = new Set([
  "type",
  "role",
  "id",
  "parentId",
  "toolCallId",
  "messageId",
  "mediaType",
]);
/** Properties with arbitrary content. */
const FREE_FORM_KEYS = new Set(["arguments", "details", "data", "metadata"]);

/** Applies `redact` to every text and free key of a header, also to the id of the session, which may name a user. */
export function redactHeader(
  header: SessionHeader,
  redact: (text: string) => string,
): SessionHeader {
  return { ...redactTexts(header, redact), id: redact(header.id) };
}

/** The position of a value in an entry or header. */
interface RedactedPosition {
  /** Name of the property; empty for an item of an array. */
  readonly name: string;
  /** Whether it belongs to the structure, and not to arbitrary content. */
  readonly hasStructure: boolean;
  /** Number of levels around it. */
  readonly depth: number;
}

/** Applies `redact` to every text and free key of an entry or header, but not to properties that define its structure. */
export function redactTexts<Value>(value: Value, redact: (text: string) => string): Value {
  const visit = (member: unknown, position: RedactedPosition): unknown => {
    const { name, hasStructure, depth } = position;
    if (typeof member === "string") {
      return hasStructure && STRUCTURAL_KEYS.has(name) ? member : redact(member);
    }
    if (typeof member !== "object" || member === null) return member;
    // Another program may have nested a value so deeply that the visit would exhaust the stack.
    if (depth === MAX_ENTRY_DEPTH) return redact(safeStringify(member));
    const inner = { name: "", hasStructure, depth: depth + 1 };
    if (Array.isArray(member)) return member.map((item) => visit(item, inner));
    const members = Object.entries(member).map(([key, value]) => {
      const isStructured = hasStructure && !FREE_FORM_KEYS.has(key);
      const memberPosition = { ...inner, name: key, hasStructure: isStructured };
      return [hasStructure ? key : redact(key), visit(value, memberPosition)];
    });
    return Object.fromEntries(members);
  };
  const root = { name: "", hasStructure: true, depth: 0 };
  return visit(JSON.parse(safeStringify(value)), root) as Value;
}
